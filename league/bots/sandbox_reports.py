"""The reports of workers on their sandbox, for ``/readyz``, metrics and alerts.

Each worker has a report of its own, by its kind and host, such as ``play@worker-2``. All processes
of a worker share it, since they have the same rights. So two kinds of workers on one host do not
replace each other's report.
"""

import json
import os
import socket
import time
from typing import Any, NamedTuple

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

from league.queueing import broker

log = structlog.get_logger(__name__)

REPORTED_FOR = 900.0
"""Seconds for which a report counts. A worker that was killed does not remove its report."""
_LACKING_FOR = 24 * 3600
_KEY = "league:sandbox-reports"
_LACKING = "sandbox-lacking"

_reporter: str | None = None
"""The name of the worker that this process belongs to."""


class Report(NamedTuple):
    """The last report of a worker.

    Attributes:
        worker: its kind and host, such as ``play@worker-2``.
        fault: why its sandbox does not work; empty if it works.
    """

    worker: str
    fault: str

    @property
    def kind(self) -> str:
        """The kind of the worker, such as ``play``."""
        return self.worker.partition("@")[0]

    @property
    def host(self) -> str:
        """The name of the worker's host."""
        return self.worker.partition("@")[2]


def report_as(worker: str) -> None:
    """Set the name for the reports of this process and those that it forks.

    Args:
        worker: kind and host, such as ``play@worker-2``.
    """
    global _reporter
    _reporter = worker


def note(fault: str) -> None:
    """Store whether the sandbox works here; an empty fault means that it does."""
    try:
        broker().hset(_KEY, _name(), json.dumps([time.time(), fault]))
        if fault:
            cache.add(_LACKING, time.time(), timeout=_LACKING_FOR)
        else:
            cache.delete(_LACKING)
    except RedisError as error:
        log.warning("the state of the sandbox could not be stored", error=str(error))


def forget() -> None:
    """Remove the report of this worker, which ends."""
    try:
        broker().hdel(_KEY, _name())
    except RedisError as error:
        log.warning("the state of the sandbox could not be removed", error=str(error))


def forget_all() -> None:
    """Remove all reports."""
    broker().delete(_KEY)
    cache.delete(_LACKING)


def newest() -> list[Report]:
    """Return the last report of each worker, by name; those older than `REPORTED_FOR` are removed.

    Raises:
        RedisError: the broker can't be reached.
    """
    stored: Any = broker().hgetall(_KEY)
    oldest, found, old = time.time() - REPORTED_FOR, [], []
    for name, value in stored.items():
        at, fault = json.loads(value)
        if at < oldest:
            old.append(name)
        else:
            found.append(Report(name.decode(), fault))
    if old:
        broker().hdel(_KEY, *old)
    return sorted(found)


def find_fault() -> str | None:
    """Return why workers play no hosted matches, by their last reports; None if all can."""
    try:
        faults = [f"{each.worker}: {each.fault}" for each in newest() if each.fault]
    except RedisError:
        return None
    return f"hosted bots do not run: {'; '.join(faults)}" if faults else None


def lacking_for() -> float:
    """Return for how many seconds workers have reported faults, and none a working sandbox."""
    try:
        since: float | None = cache.get(_LACKING)
    except RedisError:
        return 0.0
    return 0.0 if since is None else max(0.0, time.time() - since)


def _name() -> str:
    """Return the name of this worker; a program that is no worker has its process id in it."""
    return _reporter or f"process-{os.getpid()}@{socket.gethostname()}"
