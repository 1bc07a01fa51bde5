"""Whether something happens in the league. A league at rest looks for due work less often.

Requests that change something, bots that ask for turns, matches and due work are signs of activity.
A sign is a hint: if one is lost, due work is found a few seconds later.
"""

from contextlib import suppress

from django.core.cache import cache
from redis.exceptions import RedisError

ACTIVE_SECONDS = 60
"""The league counts as active for so long after the last call of `note`."""

_ACTIVE_KEY = "league-active"


def note() -> None:
    """Mark the league as active: from now on, due work is looked for at once."""
    with suppress(RedisError):  # without the broker, `may_look` returns true
        cache.set(_ACTIVE_KEY, 1, timeout=ACTIVE_SECONDS)


def is_active() -> bool:
    """Return whether the league is active; without the broker the answer is yes."""
    try:
        return cache.get(_ACTIVE_KEY) is not None
    except RedisError:
        return True


def may_look(work: str, rest_seconds: int) -> bool:
    """Return whether to look for due work now; at rest, only once in so many seconds.

    Without the broker the answer is yes.

    Args:
        work: which work; each kind has its own pause.
        rest_seconds: the pause while the league is at rest.
    """
    try:
        return is_active() or bool(cache.add(_look_key(work), 1, timeout=rest_seconds))
    except RedisError:
        return True


def look_again(*works: str) -> None:
    """End the pauses of `may_look`, which would last too long if the clock was set back."""
    with suppress(RedisError):
        cache.delete_many(map(_look_key, works))


def _look_key(work: str) -> str:
    return f"looked-for-{work}"
