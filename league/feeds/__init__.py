"""What people come back for: highlights of each day, follows, and the feed.

The public functions are exported here; other packages import them from here alone.
"""

from league.feeds.follows import (
    FollowState,
    count_news,
    feed_of,
    follow,
    follow_state,
    unfollow,
)
from league.feeds.highlight_analyses import analyse_highlights
from league.feeds.highlights import (
    find_highlights,
    highlights_of,
    is_close,
    is_shutout,
    kinds_of,
    last_highlights,
    recent_highlights,
)
from league.feeds.items import last_ends, write_items
from league.feeds.moments import deciding_step, last_step

__all__ = [
    "FollowState",
    "analyse_highlights",
    "count_news",
    "deciding_step",
    "feed_of",
    "find_highlights",
    "follow",
    "follow_state",
    "highlights_of",
    "is_close",
    "is_shutout",
    "kinds_of",
    "last_ends",
    "last_highlights",
    "last_step",
    "recent_highlights",
    "unfollow",
    "write_items",
]
