"""Steps of matches: replays and live pages format the same events."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine.cli import simulate
from engine.games.events import Event
from engine.playback import play_back
from engine.record import Fault, Record, read
from web.table.live import live_steps
from web.table.replays import replay_steps

EXAMPLES = Path(__file__).parents[3] / "docs/rules"


@pytest.fixture(params=["twelve-days", "partridge"])
def record(request: pytest.FixtureRequest) -> Record:
    """The example match of a game's rules."""
    return read((EXAMPLES / f"{request.param}-example.jsonl").read_bytes().splitlines()[0])


def names_of(record: Record) -> list[str]:
    return [f"bot-{seat}" for seat in range(record.seats)]


def public_phases(record: Record) -> list[list[Event]]:
    return [[event.seen_by(None) for event in phase.events] for phase in play_back(record)]


def test_each_step_begins_with_the_points_of_the_step_before(record: Record) -> None:
    steps = replay_steps(record, names_of(record))
    for before, step in pairwise(steps):
        assert [seat.before for seat in step.seats] == [seat.points for seat in before.seats]
    assert [seat.points for seat in steps[-1].seats] == list(record.scores)


def test_played_and_given_cards_are_marked_once_each(record: Record) -> None:
    for step in replay_steps(record, names_of(record)):
        for seat in step.seats:
            hand = seat.hand or []
            played = [card.rank for card in hand if "played" in card.marks]
            given = [card.rank for card in hand if "given" in card.marks]
            assert played == sorted(seat.played or [])
            assert given == ([] if seat.given is None else [seat.given])


def test_a_live_page_gives_the_reasons_of_the_replay_and_shows_no_hand(record: Record) -> None:
    replayed = {step.title: step.note for step in replay_steps(record, names_of(record))}
    phases = public_phases(record)
    finished = set()
    for count in range(1, len(phases)):
        current, *before = live_steps(phases[:count], names_of(record))
        assert len(before) <= 2
        for step in before:
            assert step.note == replayed[step.title]
            finished.add(step.title)
        assert all(seat.hand is None for step in (current, *before) for seat in step.seats)
        assert all(seat.given is None for step in (current, *before) for seat in step.seats)
    assert len(finished) > len(replayed) / 2


def test_a_day_explains_its_winner() -> None:
    record = read((EXAMPLES / "twelve-days-example.jsonl").read_bytes().splitlines()[0])
    first, second, third, *_ = replay_steps(record, names_of(record))
    assert first.note == "Two 6s cancel each other; 7 is the lowest left, so bot-1 wins 1 point."
    assert second.note == (
        "Two 7s cancel each other, and so do two 12s; no card is left, "
        "so 2 points carry over to day 3."
    )
    assert third.note == (
        "A Claus counts as 0, the lowest, so bot-3 wins the day and must award 5 points to "
        "another seat. bot-3 awards 5 points to bot-0."
    )


def test_the_end_adds_up_what_each_hand_scores() -> None:
    record = read((EXAMPLES / "twelve-days-example.jsonl").read_bytes().splitlines()[0])
    *_, end = replay_steps(record, names_of(record))
    assert end.note.splitlines() == [
        "bot-0 wins the match.",
        "The seats that hold the most cards of a rank score that rank.",
        "bot-0: 12 for the most 12s, 3 for the most 3s, 7 for tied 7s, 6 for tied 6s = 28.",
        "bot-1: 8 for the most 8s, 7 for tied 7s, 6 for tied 6s = 21.",
        "bot-2: 11 for the most 11s, 5 for the most 5s, 6 for tied 6s = 22.",
        "bot-3: 10 for the most 10s, 9 for the most 9s, 6 for tied 6s = 25.",
    ]


def test_the_pool_has_a_gift_for_each_round_that_is_not_won() -> None:
    record = read((EXAMPLES / "partridge-example.jsonl").read_bytes().splitlines()[0])
    *steps, end = replay_steps(record, names_of(record))
    for step, after in pairwise(steps):
        assert step.pool - after.pool == ("wins round" in after.note)
    assert (steps[0].pool, steps[-1].pool, end.pool) == (3, 0, 0)


def test_a_seat_without_a_gift_is_named_at_the_end_of_a_round() -> None:
    found = simulate("partridge", "eagle", 3, bytes(32), lambda legal: legal[-1], "bot")
    first = next(s for s in replay_steps(found, ["a", "b", "c"]) if "wins round 1" in s.note)
    assert first.note.endswith("but has no gift to give.")


def test_a_pass_shows_whether_the_seat_could_play() -> None:
    record = read((EXAMPLES / "partridge-example.jsonl").read_bytes().splitlines()[0])
    steps = replay_steps(record, names_of(record))
    last_of_round = steps[5]  # nobody holds a set that answers two 8s
    assert [seat.forced for seat in last_of_round.seats] == [False, True, True, True]
    live = live_steps(public_phases(record)[:-1], names_of(record))
    assert not any(seat.forced for step in live for seat in step.seats)


def test_a_fault_stands_with_the_seat_and_the_step_of_its_move(record: Record) -> None:
    seat, _ = record.moves[-1]
    faulty = replace(record, faults=(Fault(len(record.moves) - 1, seat, "timeout"),))
    *_, last, end = replay_steps(faulty, names_of(record))
    assert [each.faults for each in last.seats] == [
        ["timeout"] if each == seat else [] for each in range(record.seats)
    ]
    assert not end.has_faults
