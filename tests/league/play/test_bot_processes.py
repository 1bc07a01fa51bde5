from collections.abc import Iterator
from threading import Event, Lock, Thread
from types import SimpleNamespace
from typing import cast

import pytest

from league.play import bot_processes
from league.play.bot_processes import MAX_MATCHES, MAX_RESIDENT_BYTES, BotProcesses
from league.play.rows import MatchRow
from tests import logs


class Kept(BotProcesses):
    """The processes of a match, with the memory that they take."""

    def __init__(self, resident: int) -> None:
        self.resident = resident
        self.lock = Lock()


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    bot_processes._kept.clear()
    yield
    bot_processes._kept.clear()


def keep(*resident: int) -> None:
    for number, each in enumerate(resident):
        bot_processes._kept[number, 0] = Kept(each)


def test_processes_are_kept_within_the_limits() -> None:
    keep(*[MAX_RESIDENT_BYTES // MAX_MATCHES] * MAX_MATCHES)
    assert bot_processes._spare() == []


def test_above_the_limit_of_memory_the_matches_used_least_recently_end() -> None:
    third = MAX_RESIDENT_BYTES // 3
    keep(third, third, third, third, 0)
    assert bot_processes._spare() == [(0, 0)]


def test_above_the_limit_of_matches_the_matches_used_least_recently_end() -> None:
    keep(*[0] * (MAX_MATCHES + 2))
    assert bot_processes._spare() == [(0, 0), (1, 0)]


def test_a_match_in_use_does_not_end_however_large_it_is() -> None:
    keep(2 * MAX_RESIDENT_BYTES)
    assert bot_processes._spare() == []


def test_no_error_ends_the_search_for_finished_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[int] = []
    enough = Event()

    def fail() -> None:
        searches.append(1)
        if len(searches) == 2:
            bot_processes._kept.clear()  # then the thread ends
            enough.set()
        raise ValueError("a defect")

    monkeypatch.setattr(bot_processes, "CLEAN_UP_EVERY", 0.01)
    monkeypatch.setattr(bot_processes, "close_finished_matches", fail)
    keep(0)
    with logs.captured() as lines:
        bot_processes._start_cleaner()
        cleaner = bot_processes._cleaner
        assert enough.wait(20)
        assert cleaner is not None
        cleaner.join(20)
    assert not cleaner.is_alive()
    assert [line["event"] for line in lines] == ["finished matches could not be read"]


def test_a_thread_that_waited_for_processes_taken_away_gets_new_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    match = cast("MatchRow", SimpleNamespace(pk=1, attempts=0))
    monkeypatch.setattr(BotProcesses, "__init__", _without_clock)
    monkeypatch.setattr(bot_processes, "_start_cleaner", lambda: None)
    with bot_processes.processes_of(match) as first:
        pass
    keep(2 * MAX_RESIDENT_BYTES)  # of match 0, which ends for the match in use
    used: list[BotProcesses] = []

    def close_both(self: Kept) -> None:  # as the cleaner does at this moment
        with bot_processes._lock:
            assert bot_processes._pop_idle([(1, 0)]) == [first]

    def use() -> None:
        with bot_processes.processes_of(match) as found:
            used.append(found)

    monkeypatch.setattr(Kept, "close", close_both)
    thread = Thread(target=use, daemon=True)
    thread.start()
    thread.join(20)
    assert len(used) == 1
    assert used[0] is not first
    assert bot_processes._kept[1, 0] is used[0]


def _without_clock(self: BotProcesses, match: MatchRow) -> None:
    self.lock, self.resident, self._bots = Lock(), 0, {}
