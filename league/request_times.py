"""How long requests took, by route: counted in each process, added up in Valkey for `/metrics`.

A process sends its counts every few seconds, from a thread that lives only while there are some.
So `/metrics` has the same figures whichever process answers it, and a league at rest does nothing.
A restart of Valkey resets the counters; Prometheus expects that of counters.
"""

import os
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from league.queueing import broker

SEND_EVERY_SECONDS = 5.0
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets, in seconds; what takes longer is in a last one."""
_KEY = "league:request-times"
_SUM = "sum"
_MAX_KINDS = 1000
"""Kinds of requests that one process counts between two sends: more would be a fault of ours."""


class Kind(NamedTuple):
    """What requests have in common: part, route (a pattern, not a path), class of the status."""

    part: str
    route: str
    status: str


class Times(NamedTuple):
    """The times of requests of one kind: how many by bucket, and their sum in seconds."""

    counts: list[int]
    total: float


class _Counter:
    """The counts of this process that are not sent yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fields: dict[tuple[Kind, str], float] = defaultdict(float)
        self._timer: threading.Timer | None = None
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Begin anew in a forked process, which has none of the threads."""
        self._lock = threading.Lock()
        self._fields = defaultdict(float)
        self._timer = None

    def add(self, kind: Kind, seconds: float) -> None:
        """Count a request; see that the counts are sent."""
        bucket = str(bisect_left(BOUNDS, seconds))
        with self._lock:
            if (kind, bucket) not in self._fields and len(self._fields) >= 2 * _MAX_KINDS:
                return
            self._fields[kind, bucket] += 1
            self._fields[kind, _SUM] += seconds
            if self._timer is None:
                self._timer = threading.Timer(SEND_EVERY_SECONDS, self.send)
                self._timer.daemon = True
                self._timer.start()

    def send(self) -> None:
        """Add the counts to those in Valkey; if it can't be reached, they are lost."""
        with self._lock:
            fields, self._fields = self._fields, defaultdict(float)
            self._timer = None
        with suppress(RedisError, OSError):
            pipeline = broker().pipeline(transaction=False)
            for (kind, field), value in fields.items():
                name = "\n".join([*kind, field])
                if field == _SUM:
                    pipeline.hincrbyfloat(_KEY, name, value)
                else:
                    pipeline.hincrby(_KEY, name, int(value))
            pipeline.execute()


_counter = _Counter()


def note(part: str, route: str, status: int, seconds: float) -> None:
    """Count a request that took some time.

    Args:
        part: ``web`` or ``gateway``.
        route: its pattern, the same for all objects; empty if there is none.
        status: of the response.
        seconds: from the request's first line to the response's last.
    """
    _counter.add(Kind(part, route or "none", f"{status // 100}xx"), seconds)


def send() -> None:
    """Send the counts of this process now."""
    _counter.send()


def read() -> Mapping[Kind, Times]:
    """Return the times of all processes by kind.

    Raises:
        RedisError: Valkey can't be reached.
    """
    stored: Any = broker().hgetall(_KEY)
    counts: dict[Kind, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
    totals: dict[Kind, float] = defaultdict(float)
    for name, value in stored.items():
        part, route, status, field = name.decode().split("\n")
        kind = Kind(part, route, status)
        if field == _SUM:
            totals[kind] = float(value)
        else:
            counts[kind][int(field)] = int(value)
    return {kind: Times(each, totals[kind]) for kind, each in sorted(counts.items())}
