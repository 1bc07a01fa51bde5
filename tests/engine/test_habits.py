"""Habits: what is counted from the moves is what the events of a replay report."""

from collections import Counter
from random import Random

import pytest

from engine import habits
from engine.deals import seeded_shuffle
from engine.games import catalogue, events
from engine.playback import play_back
from engine.record import Record

TABLES = [
    ("twelve-days", "calliope", 3),
    ("twelve-days", "calliope", 5),
    ("twelve-days", "eight-nights", 4),
    ("partridge", "eagle-short", 2),
    ("partridge", "mathpickle-short", 4),
    ("partridge", "eagle-short", 8),
]


def random_record(game: str, rules: str, seats: int, luck: int) -> Record:
    """Return a match of random moves."""
    rng, seed = Random(luck), bytes([luck]) * 32
    state = catalogue.start(game, rules, seats, seeded_shuffle(seed))
    moves = []
    while not state.is_over:
        chosen = {seat: rng.choice(state.legal(seat)) for seat in state.actors}
        moves += [(seat, state.moves.texts[chosen[seat]]) for seat in state.actors]
        state.step_unchecked(chosen)
    assert state.scores is not None
    assert state.places is not None
    return Record(game, rules, seats, seed, tuple(moves), state.scores, state.places)


def counted_in(record: Record, faults: tuple[int, ...] = ()) -> list[habits.Tally]:
    return habits.count(record.game, record.rules, record.seats, record.moves, faults)


@pytest.mark.parametrize("luck", range(4))
@pytest.mark.parametrize(("game", "rules", "seats"), TABLES)
def test_a_count_agrees_with_the_events_of_a_replay(
    game: str, rules: str, seats: int, luck: int
) -> None:
    record = random_record(game, rules, seats, luck)
    happened = [event for phase in play_back(record) for event in phase.events]
    did, had = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    leader, cancelled = 0, Counter[int]()
    low, top = (4, 12) if rules != "eight-nights" else (2, 8)
    for event in happened:
        match event:
            case events.CardGiven():
                assert event.rank is not None
                did[event.seat, "gives-low"] += event.rank <= low
                did[event.seat, "gives-high"] += event.rank > top - low
                had[event.seat, "gives-low"] += 1
                had[event.seat, "gives-high"] += 1
            case events.CardPlayed():
                did[event.seat, "plays-low"] += event.rank <= low
                did[event.seat, "plays-high"] += event.rank > top - low
                for habit in ("plays-low", "plays-high", "cancelled", "wins-days"):
                    had[event.seat, habit] += 1
            case events.DayWon():
                did[event.seat, "wins-days"] += 1
                cancelled[0] += len(event.cancelled)
            case events.DayCarried() | events.PotLost():
                cancelled[0] += len(event.cancelled)
            case events.CardsLed():
                leader = event.seat
                did[leader, f"leads-{event.combination}"] += 1
                for habit in ("leads-single", "leads-set", "leads-straight", "wins-leads"):
                    had[leader, habit] += 1
            case events.CardsFollowed() | events.SeatPassed():
                did[event.seat, "passes"] += isinstance(event, events.SeatPassed)
                had[event.seat, "passes"] += 1
                had[event.seat, "wins-follows"] += 1
            case events.TrickWon():
                did[event.seat, "wins-leads" if event.seat == leader else "wins-follows"] += 1
    counted = counted_in(record)
    assert sum(tally.get("cancelled", (0, 0))[0] for tally in counted) == cancelled[0]
    for seat, tally in enumerate(counted):
        assert set(tally) <= set(habits.names(game, rules))
        for habit, numbers in tally.items():
            if habit == "cancelled":
                assert numbers[1] == had[seat, habit]
            else:
                assert numbers == (did[seat, habit], had[seat, habit])
    assert all(counted)


@pytest.mark.parametrize(("game", "rules", "seats"), TABLES)
def test_a_move_of_the_referee_is_no_habit_of_the_seat(game: str, rules: str, seats: int) -> None:
    record = random_record(game, rules, seats, 1)
    for ply, (seat, text) in enumerate(record.moves[:40]):
        if text.startswith("award"):
            continue
        before, after = counted_in(record), counted_in(record, (ply,))
        changed = {habit for habit in before[seat] if after[seat][habit] != before[seat][habit]}
        assert changed
        assert all(after[seat][habit][1] == before[seat][habit][1] - 1 for habit in changed)
        others = [at for at in range(seats) if at != seat]
        assert [after[at] for at in others] == [before[at] for at in others]


def test_thirds_follow_the_highest_rank_of_the_preset() -> None:
    assert habits.names("twelve-days", "calliope")["gives-high"].endswith("9 to 12")
    assert habits.names("twelve-days", "eight-nights")["plays-low"].endswith("up to 2")
    assert "passes" in habits.names("partridge", "eagle")
