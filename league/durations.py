"""How long things took, as histograms: counted in each process, added up in Valkey for `/metrics`.

A process sends its counts every few seconds, from a thread that lives only while there are some.
So `/metrics` has the same figures whichever process answers it, and a league at rest does nothing.
A restart of Valkey resets the counters; Prometheus expects that of counters.
"""

import atexit
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
_SHORT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LONG = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 21600.0)
_KEY = "league:durations"
_SUM = "sum"
_MAX_KINDS = 1000
"""Kinds of things that one process counts between two sends: more would be a fault of ours."""


class Histogram(NamedTuple):
    """What is measured.

    Attributes:
        labels: the names of what sets one kind apart from another.
        about: a sentence for `/metrics`.
        bounds: upper bounds of the buckets, in seconds; what takes longer is in a last one.
    """

    labels: tuple[str, ...]
    about: str
    bounds: tuple[float, ...] = _SHORT


HISTOGRAMS: Mapping[str, Histogram] = {
    "request": Histogram(
        ("part", "route", "status"),
        "How long requests took, by part, route and class of the status. The time of a long poll "
        "includes its wait.",
    ),
    "turn_handed_out": Histogram(
        (), "Time from the opening of a turn until its bot got it.", _LONG
    ),
    "turn_answered": Histogram(
        ("fault",),
        "Time from handing out a turn until its decision, by the kind of fault if the referee "
        "played.",
        _LONG,
    ),
    "match": Histogram(
        ("game", "kind"), "Time from the start of a hosted or live match until its end.", _LONG
    ),
    "round": Histogram(
        ("kind",), "Time from drawing a round until it was applied to the ratings.", _LONG
    ),
    "queue_wait": Histogram(("queue",), "Time that a task waited in its queue.", _SHORT),
    "sandbox_start": Histogram(
        (), "Time from the start of an uploaded bot's process until the bot was loaded.", _SHORT
    ),
    "check": Histogram(("result",), "Time from an upload until the verdict of its check.", _LONG),
}
"""By name; the metric is ``league_NAME_seconds``."""


class Kind(NamedTuple):
    """What is measured, and the values of its labels."""

    name: str
    labels: tuple[str, ...]


class Times(NamedTuple):
    """The times of one kind: how many by bucket, and their sum in seconds."""

    counts: list[int]
    total: float


class _Counter:
    """The counts of this process that are not sent yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fields: dict[tuple[Kind, str], float] = defaultdict(float)
        self._timer: threading.Timer | None = None
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.send)

    def _forget(self) -> None:
        """Begin anew in a forked process, which has none of the threads."""
        self._lock = threading.Lock()
        self._fields = defaultdict(float)
        self._timer = None

    def add(self, kind: Kind, seconds: float) -> None:
        """Count a time; see that the counts are sent."""
        bucket = str(bisect_left(HISTOGRAMS[kind.name].bounds, seconds))
        with self._lock:
            if (kind, bucket) not in self._fields and len(self._fields) >= 2 * _MAX_KINDS:
                return
            self._fields[kind, bucket] += 1
            self._fields[kind, _SUM] += seconds
            if self._timer is None:
                timer = threading.Timer(SEND_EVERY_SECONDS, self.send)
                timer.daemon = True
                with suppress(RuntimeError):  # no thread is free; the next count tries again
                    timer.start()
                    self._timer = timer

    def send(self) -> None:
        """Add the counts to those in Valkey; if it can't be reached, they are lost."""
        with self._lock:
            fields, self._fields = self._fields, defaultdict(float)
            self._timer = None
        if not fields:
            return
        with suppress(RedisError, OSError):
            pipeline = broker().pipeline(transaction=False)
            for (kind, field), value in fields.items():
                name = "\n".join([kind.name, *kind.labels, field])
                if field == _SUM:
                    pipeline.hincrbyfloat(_KEY, name, value)
                else:
                    pipeline.hincrby(_KEY, name, int(value))
            pipeline.execute()


_counter = _Counter()


def note(name: str, seconds: float, *labels: str) -> None:
    """Count a time.

    Args:
        name: of `HISTOGRAMS`.
        seconds: the time; a negative one, by clocks that differ, counts as 0.
        labels: the value of each label of the histogram.
    """
    _counter.add(Kind(name, labels), max(0.0, seconds))


def note_request(part: str, route: str, status: int, seconds: float) -> None:
    """Count a request that took some time.

    Args:
        part: ``web`` or ``gateway``.
        route: its pattern, the same for all objects; empty if there is none.
        status: of the response.
        seconds: from the request's first line to the response's last.
    """
    note("request", seconds, part, route or "none", f"{status // 100}xx")


def send() -> None:
    """Send the counts of this process now."""
    _counter.send()


def read() -> Mapping[Kind, Times]:
    """Return the times of all processes by kind.

    Raises:
        RedisError: Valkey can't be reached.
    """
    stored: Any = broker().hgetall(_KEY)
    counts: dict[Kind, list[int]] = {}
    totals: dict[Kind, float] = defaultdict(float)
    for text, value in stored.items():
        name, *labels, field = text.decode().split("\n")
        if name not in HISTOGRAMS:  # of a newer version, while it replaces this one
            continue
        kind = Kind(name, tuple(labels))
        buckets = counts.setdefault(kind, [0] * (len(HISTOGRAMS[name].bounds) + 1))
        if field == _SUM:
            totals[kind] = float(value)
        elif int(field) < len(buckets):
            buckets[int(field)] = int(value)
    return {kind: Times(each, totals[kind]) for kind, each in sorted(counts.items())}
