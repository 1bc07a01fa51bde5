"""Whether a bot is online, so that it can play now."""

from datetime import datetime, timedelta

from league.models import Bot

ONLINE_FOR = timedelta(seconds=60)
"""A remote bot is online for so long after it asked for turns."""


def is_online(bot: Bot, now: datetime) -> bool:
    """Return whether a bot can play now: a remote bot if it asked for turns in the last 60 s."""
    if bot.kind != Bot.Kind.REMOTE:
        return bot.current_id is not None
    return bot.seen_at is not None and now - bot.seen_at <= ONLINE_FOR
