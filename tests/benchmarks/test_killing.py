"""The kills: a part that is silent for a moment only seems to be back."""

from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest

from benchmarks.killing import league
from benchmarks.killing.league import League


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
