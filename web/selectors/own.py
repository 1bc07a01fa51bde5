"""What concerns a person who is signed in: the places of their bots, and what they follow."""

from django.contrib.auth.models import User

from league.feeds import feed_of
from league.models import FeedItem, Standing
from league.models.standings import SHOWN
from league.ratings.standings import StandingRow, public_standing, standing_rows


def places_of(owner: User, count: int) -> list[StandingRow]:
    """Return the places of an owner's bots on ladders, those that played last first."""
    last = (
        Standing.objects.filter(bot__owner=owner, hidden=SHOWN)
        .select_related("ladder", "bot")
        .order_by("-active_at", "pk")[:count]
    )
    return [row for each in last for row in standing_rows(each.ladder, [public_standing(each)])]


def news_of(account: User, count: int) -> list[FeedItem]:
    """Return the latest items of an account's feed."""
    return list(feed_of(account)[:count])
