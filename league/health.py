"""Whether the league can do its work: what a load balancer and an operator ask."""

import math
import time
from collections.abc import Callable, Iterable

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection

from league.ratings import alarms

SILENT_SECONDS = 15
"""After so long without a tick its worker or beat is taken to be down; so is a silent worker."""

QUEUES = sorted(
    {
        settings.CELERY_TASK_DEFAULT_QUEUE,
        *(route["queue"] for route in settings.CELERY_TASK_ROUTES.values()),
    }
)
"""Those that some worker must take tasks from."""

_PULSE = "pulse"
_KNOWN = "known"
_CAME, _HEEDED = "worker-started", "worker-started-heeded"
_HEED_EVERY = 10
"""Seconds; a worker that is started again and again is heeded no more often."""


def note_pulse() -> None:
    """Note that a tick is run, which takes beat, broker and a worker."""
    cache.set(_PULSE, time.time(), timeout=24 * 3600)


def note_worker(queues: Iterable[str]) -> None:
    """Note that a worker for these queues lives: each does so every 2 s, however busy it is."""
    now = time.time()
    cache.set_many({_worker(queue): now for queue in queues}, timeout=24 * 3600)


def workers_silent() -> dict[str, float]:
    """Return for how many seconds no worker was heard of, by queue, where one ever was.

    Raises:
        RedisError: the cache is away.
    """
    now = time.time()
    heard = cache.get_many([_worker(queue) for queue in QUEUES])
    return {queue: now - heard[_worker(queue)] for queue in QUEUES if _worker(queue) in heard}


def broker_was_emptied() -> bool:
    """Return whether the broker has forgotten all, queues too, since this was last asked."""
    return bool(cache.add(_KNOWN, time.time(), timeout=None))


def note_worker_started() -> None:
    """Note that a worker has been started: perhaps in the place of one that was killed."""
    cache.set(_CAME, True, timeout=None)


def worker_started() -> bool:
    """Return whether a worker has been started since this was last asked.

    What a killed one had in hand is then lost to the queue.
    """
    if cache.get(_CAME) is None or not cache.add(_HEEDED, True, timeout=_HEED_EVERY):
        return False
    cache.delete(_CAME)
    return True


def tasks_queued(queue: str) -> int:
    """Return how many tasks wait in a queue for a worker.

    Raises:
        RedisError: the broker is away.
    """
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1) as client:
        return int(client.llen(queue))


def find_faults() -> dict[str, str]:
    """Return what is wrong, in a line each, by part; empty if nothing is.

    The clock is what ticks each second: beat, which queues its tasks, and a worker, which runs
    them. A worker in the midst of long matches lives, however long its queue is.
    """
    checks: dict[str, Callable[[], str | None]] = {
        "database": _database,
        "broker": _broker,
        "clock": _clock,
        "workers": _workers,
    }
    return {part: fault for part, check in checks.items() if (fault := check())}


def find_alarms() -> dict[str, str]:
    """Return what an operator must look at although the league works, in a line each.

    A ladder whose ratings are not what its records give is here, as ``ladder SLUG``.
    """
    try:
        return {f"ladder {slug}": alarm for slug, alarm in alarms().items()}
    except DatabaseError:
        return {}  # `find_faults` tells of it


def _database() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"DATABASE_URL can't be reached: {_line(error)}"
    return None


def _broker() -> str | None:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1) as client:
            client.ping()
    except redis.RedisError as error:
        return f"REDIS_URL can't be reached: {_line(error)}"
    return None


def _clock() -> str | None:
    try:
        last = cache.get(_PULSE)
    except redis.RedisError:
        return "unknown without the broker"
    if last is None:
        return "no tick yet: start a worker for the queue clock, and beat"
    silent = time.time() - last
    if silent > SILENT_SECONDS:
        return f"no tick for {silent:.0f} s: is a worker for the queue clock running, and beat?"
    return None


def _workers() -> str | None:
    try:
        silent = workers_silent()
    except redis.RedisError:
        return "unknown without the broker"
    missing = [queue for queue in QUEUES if silent.get(queue, math.inf) > SILENT_SECONDS]
    if missing:
        return f"no worker is heard of for the queues {', '.join(missing)}: start one"
    return None


def _worker(queue: str) -> str:
    return f"worker:{queue}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
