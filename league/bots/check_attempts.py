"""Attempts to check a version that ended without a result, counted in the cache for a day.

A *loss* comes from outside: the worker was killed. A *failure* is the check's own: it raised an
exception. Losses are followed by a pause that grows. If the database or the sandbox is away,
nothing is counted.
"""

from collections.abc import Callable
from typing import TypeVar

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

MAX_FAILURES = 5
MAX_LOSSES = 12
"""As `league.play.retries.MAX_LOSSES`; the pauses between them last 30 minutes and more."""
_KEPT_SECONDS = 24 * 3600
_FIRST_PAUSE, _MAX_PAUSE = 5, 300
_Result = TypeVar("_Result")


def is_pausing(version_id: int) -> bool:
    """Return whether a version waits because its check was lost a short time ago."""
    return bool(_tried(lambda: cache.get(_key("pause", version_id)), False))


def reason_to_refuse(version_id: int) -> str | None:
    """Return why a version is not checked again, None if it may be checked."""
    if _count("failures", version_id) >= MAX_FAILURES:
        return (
            f"The check failed {MAX_FAILURES} times without a result. Run twelfth-night check to "
            "find the cause, and upload the file again."
        )
    if _count("losses", version_id) >= MAX_LOSSES:
        return (
            f"{MAX_LOSSES} workers ended while they checked this version. Your bot may not be the "
            "cause. Upload the file again."
        )
    return None


def begin(version_id: int) -> None:
    """Count a loss until the check ends, as a worker that is killed can count nothing."""
    losses = _add("losses", version_id)
    if losses > 1:
        pause = min(_MAX_PAUSE, _FIRST_PAUSE * 3 ** min(losses - 2, 9))
        _tried(lambda: cache.set(_key("pause", version_id), True, timeout=pause), None)


def end(version_id: int) -> None:
    """Forget the losses of a version: its check ended, with a result or without."""
    keys = [_key("losses", version_id), _key("pause", version_id)]
    _tried(lambda: cache.delete_many(keys), None)


def note_failure(version_id: int) -> None:
    """Count a failure: the check ended with an exception."""
    end(version_id)
    _add("failures", version_id)


def _key(what: str, version_id: int) -> str:
    return f"check-{what}:{version_id}"


def _count(what: str, version_id: int) -> int:
    return int(_tried(lambda: cache.get(_key(what, version_id)), 0) or 0)


def _add(what: str, version_id: int) -> int:
    """Add one to a count; return the count."""
    key = _key(what, version_id)

    def added() -> int:
        cache.add(key, 0, timeout=_KEPT_SECONDS)
        return int(cache.incr(key))

    return _tried(added, 1)


def _tried(call: Callable[[], _Result], otherwise: _Result) -> _Result:
    """Return the result of a call of the cache; a missing count only delays a refusal."""
    try:
        return call()
    except (RedisError, ValueError) as error:
        log.warning("attempts of a check could not be counted", error=str(error))
        return otherwise
