"""Health checks for load balancers and operators: faults, alarms, and the lengths of queues."""

import math
from collections.abc import Callable
from functools import partial

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from league import heartbeats
from league.bots import sandbox_reports
from league.competitions import rows_aside
from league.play import outages
from league.play.standstill import STANDSTILL, standing_still
from league.queueing import broker
from league.ratings import alarms

MAX_CLOCK_AGE_SECONDS = 4
"""A clock that has handled no deadlines for longer than this is down; it does so each second."""
MAX_HEARTBEAT_AGE_SECONDS = 5
"""A part, or a queue's worker, without a heartbeat for longer than this is down.

Workers, beat and the gateway give one every 2 s.
"""
MAX_TICK_AGE_SECONDS = 60
"""If no tick has finished for longer than this, ticks fail or hang.

At rest, one is queued every 30 s."""

QUEUES = sorted(
    {
        settings.CELERY_TASK_DEFAULT_QUEUE,
        *settings.PLAY_QUEUES,
        *(route["queue"] for route in settings.CELERY_TASK_ROUTES.values()),
    }
)
"""The queues that workers must serve."""

_UNKNOWN = "unknown without the broker"


def find_faults() -> dict[str, str]:
    """Return the faults that keep the league from its work, one line by part.

    The part ``clock`` is a worker that handles deadlines, ``tick`` is its other work. ``doors`` are
    the paths of bots' calls, as that worker finds them. Workers in the middle of long matches are
    alive, however long their queue is.
    """
    checks: dict[str, Callable[[], str | None]] = {
        "database": _check_database,
        "broker": _check_broker,
        "clock": _check_clock,
        "doors": _check_doors,
        "tick": _check_tick,
        "beat": partial(_check_part, "beat"),
        "gateway": partial(_check_part, "gateway"),
        "workers": _check_workers,
        "play": _check_play,
    }
    return {part: fault for part, check in checks.items() if (fault := check())}


def find_alarms() -> dict[str, str]:
    """Return what an operator must examine although the league works, one line by subject.

    A ladder whose ratings differ from its records has the subject ``ladder SLUG``. A row that is
    set aside has its kind and name, such as ``tournament 7``.
    """
    try:
        found = {f"ladder {slug}": alarm for slug, alarm in alarms().items()}
        for subject, reason in rows_aside():
            text = f"Set aside: the league leaves it out. {reason}"
            found[subject] = f"{found[subject]} {text}" if subject in found else text
        return found
    except DatabaseError:
        return {}  # `find_faults` reports it


def heartbeat_ages() -> dict[str, float]:
    """Return the seconds since a worker's last heartbeat by queue, for queues that had one.

    Raises:
        RedisError: the cache can't be reached.
    """
    return heartbeats.seconds_since_worker(QUEUES)


def _check_database() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"DATABASE_URL can't be reached: {_line(error)}"
    return None


def _check_broker() -> str | None:
    try:
        broker().ping()
    except redis.RedisError as error:
        return f"REDIS_URL can't be reached: {_line(error)}"
    return None


def _check_clock() -> str | None:
    try:
        age = heartbeats.seconds_since_part("deadlines")
    except redis.RedisError:
        return _UNKNOWN
    if age is None:
        return "no heartbeat yet: start a worker for the queue clock"
    if age > MAX_CLOCK_AGE_SECONDS:
        return f"no heartbeat for {age:.0f} s: check that a worker for the queue clock runs"
    return None


def _check_doors() -> str | None:
    """Return a fault if bots' calls fail at ``PROBE_URL``: all open deadlines wait meanwhile."""
    try:
        door = outages.failing_door()
    except DatabaseError:
        return None  # `_check_database` reports it
    if door is None:
        return None
    return (
        f"the clock's calls of {door.address} fail: {_line(door.fault)}. Until they succeed, no "
        "deadline of a bot passes: check PROBE_URL and the way there"
    )


def _check_tick() -> str | None:
    try:
        age = heartbeats.seconds_since_tick()
    except redis.RedisError:
        return None  # `_check_clock` reports it
    if age is None:
        return (
            "no tick (the task that does due work) yet: start the process beat, and a worker for "
            "the queue clock"
        )
    if age > MAX_TICK_AGE_SECONDS:
        return (
            f"no tick (the task that does due work) has finished for {age:.0f} s: read the log of "
            "the worker for the queue clock"
        )
    return None


def _check_part(name: str) -> str | None:
    try:
        age = heartbeats.seconds_since_part(name)
    except redis.RedisError:
        return _UNKNOWN
    if age is None:
        return "no heartbeat yet: start it"
    if age > MAX_HEARTBEAT_AGE_SECONDS:
        return f"no heartbeat for {age:.0f} s: check that it runs"
    return None


def _check_workers() -> str | None:
    try:
        ages = heartbeat_ages()
    except redis.RedisError:
        return _UNKNOWN
    missing = [queue for queue in QUEUES if ages.get(queue, math.inf) > MAX_HEARTBEAT_AGE_SECONDS]
    if missing:
        return f"no worker serves the queues {', '.join(missing)}: start one"
    return None


def _check_play() -> str | None:
    """Return a fault if the workers for matches are alive but play none.

    Without a sandbox they play no hosted matches: that is a limit, not a fault.
    """
    try:
        still = 0 if sandbox_reports.find_fault() else standing_still()
    except DatabaseError:
        return None  # `_check_database` reports it
    if not still:
        return None
    return (
        f"{still} matches wait in the queue, and no worker has played any for "
        f"{STANDSTILL.total_seconds():.0f} s: read the log of the worker for the queues "
        f"{' and '.join(settings.PLAY_QUEUES)}, and start it again"
    )


def _line(error: object) -> str:
    return " ".join(str(error).split())[:300]
