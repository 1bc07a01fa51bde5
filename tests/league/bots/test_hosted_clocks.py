"""Only the time counts for hosted and house bots in which they could run."""

import time
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from bots_sdk.bot import match_info
from bots_sdk.sandbox.timing import MoveTime
from engine.referee import TimeControl, ask
from league.bots import jails, qualifying
from league.bots.hosted_clocks import HostedClock, HouseBot, counted_seconds
from league.bots.hosted_players import HostedBot, max_cpu_seconds
from league.models import BotVersion, Match
from tests.engine.tables import CASES, played, start

MATCH = Match(game="twelve-days", rules="calliope", seats=4, move_seconds=1.0, bank_seconds=2.0)


class Measured(HostedBot):
    """A hosted bot without a process, whose sandbox measures a given time for each move."""

    def __init__(self, counted: float | None) -> None:
        self.move_time = None if counted is None else MoveTime(counted, 0.0, 0.0)

    def __call__(self, observation: dict[str, object]) -> str:
        return str(observation["legal_moves"][0])  # type: ignore[index]


def stalled(seconds: float) -> Callable[[], float]:
    """Return a clock that shows so many seconds more at each look."""
    looks = iter(range(10**6))
    return lambda: next(looks) * seconds


def test_a_hosted_bot_that_could_not_run_loses_no_time() -> None:
    clock = HostedClock(MATCH)
    clock.now = stalled(40.0)
    clock.players = {0: Measured(0.5)}
    answer = ask(start("twelve-days", "calliope", 4), 0, clock.players[0], clock)
    assert answer.fault is None
    assert clock.allowance(0) == 3.0


def test_a_hosted_bot_that_computes_for_too_long_is_late_on_a_fast_clock() -> None:
    clock = HostedClock(MATCH)
    clock.now = stalled(0.001)
    clock.players = {0: Measured(3.5)}
    answer = ask(start("twelve-days", "calliope", 4), 0, clock.players[0], clock)
    assert answer.fault == "timeout"


@pytest.mark.parametrize("counted", [0.0, 1.0, 2.5])
def test_the_time_that_counts_is_taken_off_the_bank(counted: float) -> None:
    clock = HostedClock(MATCH)
    clock.players = {0: Measured(counted)}
    assert clock.charge(0, 1000.0)
    assert clock.allowance(0) == 3.0 - max(0.0, counted - 1.0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bot_within_its_clock_never_reaches_the_limit_of_cpu_time(
    case: tuple[str, str, int],
) -> None:
    info = match_info(*case, 0, TimeControl(2.0, 30.0))
    for deal in range(5):
        moves = Counter(
            state.actors[0] for state in played(start(*case, deal), Random(deal)) if state.actors
        )
        assert max_cpu_seconds(info) > max(moves.values()) * 2.0 + 30.0


class Stalled(Measured):
    """A bot that answers at once, on a machine that then stands still for 40 s."""

    passed = 0.0

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(0.01)

    def __call__(self, observation: dict[str, object]) -> str:
        Stalled.passed += 40.0
        return super().__call__(observation)

    def load(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    printed_text = ""


def test_a_machine_that_stands_still_during_a_check_is_no_fault_of_the_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(qualifying, "HostedBot", Stalled)
    monkeypatch.setattr(jails, "jail", lambda: None)
    monkeypatch.setattr(time, "monotonic", lambda: Stalled.passed)
    limit = qualifying.WallLimit(seconds=10.0**6)
    setting = qualifying.MatchSetting("twelve-days", "calliope", 4)
    checked = qualifying.play_qualifying_match(BotVersion(), setting, limit)
    assert Stalled.passed > 40.0
    assert (checked.passed, checked.reason) == (True, "")


def test_without_a_measurement_the_time_of_the_wall_clock_counts() -> None:
    clock = HostedClock(MATCH)
    clock.players = {0: Measured(None)}
    assert clock.charge(0, 2.0)
    assert clock.allowance(0) == 2.0
    assert not clock.charge(1, 4.0), "a seat without a player"


def test_a_house_bot_is_charged_the_processor_time_of_its_thread() -> None:
    def slow(observation: dict[str, object]) -> str:
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass
        return "give 1"

    bot = HouseBot(slow)
    assert counted_seconds(bot) is None
    bot({})
    assert 0.02 <= (counted_seconds(bot) or 0.0) < 1.0


def test_a_house_bot_that_waits_for_the_machine_is_charged_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = start("twelve-days", "calliope", 4)
    clock = HostedClock(MATCH)
    clock.now = stalled(40.0)
    clock.players = {0: HouseBot(lambda observation: observation["legal_moves"][0])}
    for _ in range(5):
        assert ask(state, 0, clock.players[0], clock).fault is None
    assert clock.allowance(0) > 2.9
