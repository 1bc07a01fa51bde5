"""The kills: what the benchmark must notice."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.killing import league, watcher
from benchmarks.killing.league import League
from benchmarks.killing.watcher import Watcher


class Clock:
    """Time that passes only in pauses."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Silent(League):
    """A league of which a part is killed: its last heartbeat counts for a time."""

    def __init__(self, directory: Path, answers: Iterator[str]) -> None:
        super().__init__(directory, 1)
        self._answers = answers

    def readiness(self) -> str:
        return next(self._answers)

    def start_again(self) -> None:
        """Do nothing: the supervisor starts the part."""


def test_a_league_counts_as_ready_only_from_the_end_of_its_last_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(league, "time", clock)
    # Ready for 4 s, until the silence is noticed; not ready for 3 s; then ready.
    answers = chain(repeat("ready", 40), repeat("no heartbeat", 30), repeat("ready"))
    since = Silent(tmp_path, answers).await_ready(steady_seconds=6.0)
    assert since == pytest.approx(107.0)
    assert clock.now == pytest.approx(113.0, abs=0.2)


def test_a_league_that_is_ready_need_not_be_steady(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(league, "time", clock)
    assert Silent(tmp_path, iter(["not yet", "ready"])).await_ready() == clock.now


class Stream:
    """A client of a league with one live match, whose stream falls silent after some events.

    Args:
        events: the kinds of the events.
    """

    def __init__(self, *events: str) -> None:
        self._events = events
        self.closed = threading.Event()

    def send(self, _: object) -> dict[str, Any]:
        """Return the list of live matches."""
        return {"results": [{"id": 1}]}

    @contextmanager
    def events(self, _: object) -> Iterator[Iterator[Any]]:
        """Follow the stream."""
        yield self._read()

    def _read(self) -> Iterator[Any]:
        for number, kind in enumerate(self._events):
            yield SimpleNamespace(event=kind, id=str(number), data={})
        self.closed.wait(10)


@pytest.mark.parametrize(
    ("events", "problems"),
    [
        (["deal", "end"], []),
        (["deal"], ["the stream of match 1 has not ended with the match"]),
    ],
)
def test_a_stream_that_loses_its_last_events_is_noticed(
    monkeypatch: pytest.MonkeyPatch, events: list[str], problems: list[str]
) -> None:
    stream = Stream(*events)
    monkeypatch.setattr(watcher, "END_SECONDS", 2.0)
    monkeypatch.setattr(watcher, "Client", lambda *_, **__: stream)
    following = Watcher("http://127.0.0.1:1", 1)
    assert following.received.wait(5)
    threading.Timer(2.5, stream.closed.set).start()
    following.stop(settled=True)
    assert following.problems == problems
