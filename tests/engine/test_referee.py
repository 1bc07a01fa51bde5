from collections.abc import Callable
from random import Random

import pytest

from engine.errors import MatchInterruptedError
from engine.games.game import Observation
from engine.record import read, verify, write
from engine.referee import MatchClock, Outcome, TimeControl, play

SEED = bytes(range(32))


class Time:
    """A clock that moves only when the test moves it."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def first(observation: Observation) -> str:
    move: str = observation["legal_moves"][0]
    return move


def referee(*players: Callable[[Observation], str], game: str = "twelve-days") -> Outcome:
    rules = {"twelve-days": "calliope", "partridge": "eagle-short"}[game]
    outcome = play(game, rules, SEED, players, names=[f"p{i}" for i in range(len(players))])
    assert verify(read(write(outcome.record).encode())).is_over
    return outcome


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_a_match_between_sound_players_has_a_record_that_verifies_and_no_faults(game: str) -> None:
    rng = Random(1)
    outcome = referee(*[lambda o: rng.choice(o["legal_moves"])] * 4, game=game)
    assert outcome.record.faults == ()
    assert outcome.forfeited == ()
    assert outcome.record.players == ("p0", "p1", "p2", "p3")


def test_the_referee_calls_a_player_only_if_it_has_a_choice() -> None:
    def check(observation: Observation) -> str:
        assert len(observation["legal_moves"]) > 1
        return first(observation)

    assert referee(check, check, check, game="partridge").record.faults == ()


def test_a_loosely_written_move_is_recorded_canonically() -> None:
    def loose(observation: Observation) -> str:
        verb, *cards = first(observation).split()
        return "  ".join([verb, *reversed(cards), ""])

    assert referee(loose, loose, loose, game="partridge").record.faults == ()


class Unspeakable:
    """An answer whose ``repr`` fails."""

    def __repr__(self) -> str:
        raise KeyError

    __str__ = __repr__


class UnspeakableError(Unspeakable, Exception):
    """An error whose ``repr`` fails."""


class Treacherous(str):
    """A text whose methods all fail."""

    __slots__ = ()

    def split(self, *_args: object) -> list[str]:
        raise KeyError

    def __hash__(self) -> int:
        raise KeyError

    def __eq__(self, _other: object) -> bool:
        raise KeyError


def raises(error: BaseException) -> Callable[[Observation], str]:
    def player(_observation: Observation) -> str:
        raise error

    return player


@pytest.mark.parametrize(
    ("player", "kind", "reason"),
    [
        (lambda _: "give 99", "illegal", "may not 'give 99'"),
        (lambda _: None, "illegal", "in legal_moves; `choose` may have no `return`"),
        (lambda _: 7, "illegal", "a move is a text, not 7; return one of the texts in legal_moves"),
        (lambda _: "x" * 10**7, "illegal", "may not 'xxx"),
        (lambda _: Unspeakable(), "illegal", "something of type Unspeakable;"),
        (lambda _: Treacherous("no"), "illegal", "may not 'no'"),
        (raises(ValueError("oh\nno")), "crash", "ValueError('oh\\nno')"),
        (raises(SystemExit(1)), "crash", "SystemExit(1)"),
        (raises(RecursionError()), "crash", "RecursionError()"),
        (raises(UnspeakableError()), "crash", "something of type UnspeakableError"),
        (raises(TimeoutError("2 s")), "timeout", "gave up: TimeoutError('2 s')"),
    ],
)
def test_after_three_faults_a_seat_forfeits_and_gets_no_more_calls(
    player: Callable[[Observation], str], kind: str, reason: str
) -> None:
    calls = 0

    def faulty(observation: Observation) -> str:
        nonlocal calls
        calls += 1
        return player(observation)

    outcome = referee(first, faulty, first)
    assert calls == 3
    assert outcome.forfeited == (1,)
    kinds = [fault.kind for fault in outcome.record.faults]
    assert kinds[:3] == [kind] * 3
    assert set(kinds[3:]) == {"forfeit"}
    assert {fault.seat for fault in outcome.record.faults} == {1}
    assert len(outcome.fault_reports) == 3
    assert reason in outcome.fault_reports[0].reason
    assert "\n" not in outcome.fault_reports[0].reason
    assert len(outcome.fault_reports[0].reason) < 500
    assert outcome.fault_reports[0].observation["seat"] == 1


def test_two_faults_are_no_forfeit() -> None:
    answers = iter(["no", "no"])
    outcome = referee(first, lambda o: next(answers, first(o)), first)
    assert [fault.kind for fault in outcome.record.faults] == ["illegal", "illegal"]
    assert outcome.forfeited == ()


def test_an_interruption_ends_the_match_without_a_fault_or_result() -> None:
    with pytest.raises(MatchInterruptedError):
        referee(first, raises(MatchInterruptedError()), first)


def test_a_player_that_changes_its_observation_does_not_affect_the_match() -> None:
    def vandal(observation: Observation) -> str:
        move = first(observation)
        for value in observation.values():
            if isinstance(value, list):
                value.clear()
        observation.clear()
        return move

    assert referee(vandal, vandal, vandal).record == referee(first, first, first).record


def timed(control: TimeControl, seconds: list[float]) -> Outcome:
    """Let seat 1 spend these seconds on its moves, in order, and no time on later moves."""
    time = Time()
    delays = iter(seconds)

    def slow(observation: Observation) -> str:
        time.seconds += next(delays, 0.0)
        return first(observation)

    clock = MatchClock(control, 3, time)
    return play("twelve-days", "calliope", SEED, [first, slow, first], clock=clock)


def test_a_move_within_its_seconds_leaves_the_bank_alone() -> None:
    outcome = timed(TimeControl(move_seconds=1, bank_seconds=0), [1.0] * 24)
    assert outcome.record.faults == ()


def test_a_slow_move_uses_up_the_bank_and_then_is_a_timeout() -> None:
    outcome = timed(TimeControl(move_seconds=1, bank_seconds=2), [2.0, 2.0, 1.5])
    assert [fault.kind for fault in outcome.record.faults] == ["timeout"]
    reason = outcome.fault_reports[0].reason
    assert reason == "it answered after 1.500 s, but it had only 1 s"


def test_a_late_answer_is_a_timeout_even_when_it_crashes() -> None:
    time = Time()

    def late(_observation: Observation) -> str:
        time.seconds += 9
        raise ValueError

    clock = MatchClock(TimeControl(1), 3, time)
    outcome = play("twelve-days", "calliope", SEED, [first, late, first], clock=clock)
    assert outcome.record.faults[0].kind == "timeout"


def test_a_player_can_read_its_remaining_time() -> None:
    clock = MatchClock(TimeControl(move_seconds=1, bank_seconds=2), 2, Time())
    assert clock.allowance(0) == 3
    assert clock.charge(0, 2.5)
    assert clock.allowance(0) == 1.5
    assert not clock.charge(0, 1.75)
    assert clock.allowance(0) == 1
    assert clock.allowance(1) == 3


def test_names_are_needed_for_all_seats_or_none() -> None:
    with pytest.raises(ValueError, match="1 names for 3 players"):
        play("twelve-days", "calliope", SEED, [first] * 3, names=["a"])
