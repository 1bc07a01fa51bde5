"""Heartbeats of the parts, kept in the cache; `league.health` judges them."""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.cache import cache

_KEPT_SECONDS = 24 * 3600
_TICK_KEY = "tick-finished"
_BROKER_KEY = "broker-known"
_STARTED_KEY = "worker-started"
_STARTED_PAUSE_KEY = "worker-started-pause"
_STARTED_PAUSE_SECONDS = 10
"""A worker that starts again and again counts as started no more often than this."""


def note_tick() -> None:
    """Store that a tick has finished: beat, the broker and a clock worker do their work."""
    cache.set(_TICK_KEY, time.time(), timeout=_KEPT_SECONDS)


def seconds_since_tick() -> float | None:
    """Return the time since the last tick, None if there was none within a day.

    Raises:
        RedisError: the cache can't be reached.
    """
    last = cache.get(_TICK_KEY)
    return None if last is None else time.time() - last


def note_part(name: str) -> None:
    """Store that a part is alive: ``beat``, ``gateway``, or ``deadlines`` of the clock worker."""
    cache.set(_part_key(name), time.time(), timeout=_KEPT_SECONDS)


def seconds_since_part(name: str) -> float | None:
    """Return the time since a part's last heartbeat, None if there was none within a day.

    Raises:
        RedisError: the cache can't be reached.
    """
    last = cache.get(_part_key(name))
    return None if last is None else time.time() - last


def touch_file() -> None:
    """Touch ``ALIVE_FILE``, by which the health check of a container sees that it is alive."""
    if settings.ALIVE_FILE:
        with suppress(OSError):
            Path(settings.ALIVE_FILE).touch()


def note_worker(queues: Iterable[str]) -> None:
    """Store that a worker for these queues is alive; each does so every 2 s, even if busy."""
    now = time.time()
    cache.set_many({_worker_key(queue): now for queue in queues}, timeout=_KEPT_SECONDS)


def seconds_since_worker(queues: Iterable[str]) -> dict[str, float]:
    """Return the time since the last heartbeat by queue; queues without one in a day are missing.

    Raises:
        RedisError: the cache can't be reached.
    """
    now = time.time()
    queues = {_worker_key(queue): queue for queue in queues}
    return {queues[key]: now - last for key, last in cache.get_many(queues).items()}


def note_worker_started() -> None:
    """Store that a worker has started, perhaps instead of one that was killed."""
    cache.set(_STARTED_KEY, True, timeout=None)


def worker_was_started() -> bool:
    """Return whether a worker has started since the last call.

    If it replaced a killed worker, the queue has lost that worker's tasks.
    """
    if cache.get(_STARTED_KEY) is None:
        return False
    if not cache.add(_STARTED_PAUSE_KEY, True, timeout=_STARTED_PAUSE_SECONDS):
        return False
    cache.delete(_STARTED_KEY)
    return True


def broker_was_emptied() -> bool:
    """Return whether the broker has lost all its data, queues included, since the last call."""
    return bool(cache.add(_BROKER_KEY, time.time(), timeout=None))


def _part_key(name: str) -> str:
    return f"part:{name}"


def _worker_key(queue: str) -> str:
    return f"worker:{queue}"
