"""Whether the league can do its work: what a load balancer and an operator ask."""

import time
from collections.abc import Callable

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection

from league.standings import alarms

SILENT_SECONDS = 15
"""After so long without a tick its worker or beat is taken to be down."""

_PULSE = "pulse"
_KNOWN = "known"


def note_pulse() -> None:
    """Note that a tick is run, which takes beat, broker and a worker."""
    cache.set(_PULSE, time.time(), timeout=24 * 3600)


def broker_was_emptied() -> bool:
    """Return whether the broker has forgotten all, queues too, since this was last asked."""
    return bool(cache.add(_KNOWN, time.time(), timeout=None))


def find_faults() -> dict[str, str]:
    """Return what is wrong, in a line each, by part: database, broker, clock; empty if nothing is.

    The clock is what ticks each second: beat, which queues its tasks, and a worker, which runs
    them.
    """
    checks: dict[str, Callable[[], str | None]] = {
        "database": _database,
        "broker": _broker,
        "clock": _clock,
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


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
