"""Follows: which bots and tournaments an account follows, and its feed.

An account follows its own bots from the start; no row is stored for them.
"""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from league.models import Bot, FeedItem, Follow, Tournament

MAX_FOLLOWED = 500
"""Bots and tournaments that an account may follow."""


class FollowState(NamedTuple):
    """Whether an account follows something, and how many accounts follow it."""

    follows: bool
    followers: int


def follow(account: User, followed: Bot | Tournament) -> None:
    """Follow a bot or tournament; nothing changes if the account follows it already.

    Raises:
        ValidationError: the account follows `MAX_FOLLOWED` others.
    """
    own = Follow.objects.filter(account=account)
    if own.filter(**_object(followed)).exists():
        return
    if own.count() >= MAX_FOLLOWED:
        raise ValidationError(
            f"You follow {MAX_FOLLOWED} bots and tournaments, the maximum. Stop following one of "
            "them first."
        )
    Follow.objects.get_or_create(account=account, **_object(followed))


def unfollow(account: User, followed: Bot | Tournament) -> None:
    """Stop following a bot or tournament; nothing changes if the account does not follow it."""
    Follow.objects.filter(account=account, **_object(followed)).delete()


def follow_state(account: User | None, followed: Bot | Tournament) -> FollowState:
    """Return whether an account follows a bot or tournament, and the number of its followers."""
    followers = Follow.objects.filter(**_object(followed))
    follows = account is not None and followers.filter(account=account).exists()
    return FollowState(follows, followers.count())


def feed_of(account: User) -> QuerySet[FeedItem]:
    """Return what happened to an account's bots and to what it follows, newest first."""
    follows = Follow.objects.filter(account=account)
    own = Bot.objects.owned_by(account).values("pk")
    bots = follows.filter(bot__isnull=False).values("bot")
    tournaments = follows.filter(tournament__isnull=False).values("tournament")
    # Followers of the winner get the item of its rank, so they do not need the tournament's end.
    about_bots = (Q(bot__in=own) | Q(bot__in=bots)) & ~Q(kind=FeedItem.Kind.FINISHED)
    about_events = Q(tournament__in=tournaments) & ~Q(kind=FeedItem.Kind.PLACED)
    items = FeedItem.objects.filter(about_bots | about_events)
    return items.select_related("bot", "ladder", "tournament").order_by("-at", "-id")


def count_news(account: User, since: datetime, most: int, *, after: int | None = None) -> int:
    """Return the number of items of an account's feed that are new, at most ``most``.

    Args:
        account: the reader's.
        since: what happened later is new.
        most: counts no further.
        after: an item with a higher id is new too, as it was stored later; None: by time alone.
    """
    is_new = Q(at__gt=since) if after is None else Q(at__gt=since) | Q(pk__gt=after)
    return feed_of(account).order_by().filter(is_new)[:most].count()


def _object(followed: Bot | Tournament) -> dict[str, Any]:
    return {"bot" if isinstance(followed, Bot) else "tournament": followed}
