"""Events close their rounds in any order: the ladder follows the order of application alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from engine.rating.elo import START, AppliedRound, RatingState, Round, apply_round, fold
from tests.engine.rating.test_elo import draw_round

Key = tuple[int, int]
"""An event, and the number of one of its rounds."""

seeds = st.integers(min_value=0, max_value=2**64 - 1)


def draw_events(rng: Random) -> list[list[Round]]:
    """Two to four events of up to five rounds each; every bot may play in all of them."""
    return [[draw_round(rng) for _ in range(rng.randint(1, 5))] for _ in range(rng.randint(2, 4))]


def interleave(events: Sequence[Sequence[Round]], rng: Random) -> list[Key]:
    """Return a random order of closing in which each event's rounds stay in their order."""
    turns = [event for event, rounds in enumerate(events) for _ in rounds]
    rng.shuffle(turns)
    return [(event, turns[:at].count(event)) for at, event in enumerate(turns)]


def apply_in(
    order: Sequence[Key], rounds: Mapping[Key, Round]
) -> tuple[list[AppliedRound], Mapping[int, RatingState]]:
    """Apply rounds one by one, as the ladder does when each closes."""
    states: Mapping[int, RatingState] = {}
    ledger = []
    for key in order:
        ledger.append(apply_round(states, rounds[key]))
        states = ledger[-1].states
    return ledger, states


@given(seeds)
def test_the_fold_in_the_order_of_application_gives_every_row_of_the_ledger(seed: int) -> None:
    rng = Random(seed)
    events = draw_events(rng)
    rounds = {(e, n): round_ for e, event in enumerate(events) for n, round_ in enumerate(event)}
    order = interleave(events, rng)
    ledger, states = apply_in(order, rounds)
    assert list(fold(rounds[key] for key in order)) == ledger
    assert sum(state.rating for state in states.values()) == START * len(states)


@given(seeds)
def test_an_event_that_never_closes_changes_nothing_for_the_others(seed: int) -> None:
    rng = Random(seed)
    events = draw_events(rng)
    rounds = {(e, n): round_ for e, event in enumerate(events) for n, round_ in enumerate(event)}
    order = interleave(events, rng)
    stuck = rng.randrange(len(events))
    closed_before = rng.randint(0, len(events[stuck]))
    closed = [key for key in order if key[0] != stuck or key[1] < closed_before]
    ledger, states = apply_in(closed, rounds)
    assert [key for key in closed if key[0] != stuck] == [k for k in order if k[0] != stuck]
    assert sum(state.rating for state in states.values()) == START * len(states)
    late = [key for key in order if key not in closed]
    assert list(fold(rounds[key] for key in [*closed, *late]))[: len(closed)] == ledger


@given(seeds)
def test_a_correction_keeps_the_rounds_before_it_and_refolds_the_rest_in_the_same_order(
    seed: int,
) -> None:
    rng = Random(seed)
    events = draw_events(rng)
    rounds = {(e, n): round_ for e, event in enumerate(events) for n, round_ in enumerate(event)}
    order = interleave(events, rng)
    ledger, _ = apply_in(order, rounds)
    corrected = rng.randrange(len(order))
    key = order[corrected]
    without = {**rounds, key: _void_one(rounds[key], rng)}
    again, states = apply_in(order, without)
    assert again[:corrected] == ledger[:corrected]
    before = ledger[corrected - 1].states if corrected else {}
    assert list(fold([without[k] for k in order[corrected:]], before)) == again[corrected:]
    assert sum(state.rating for state in states.values()) == START * len(states)


def test_the_order_of_application_matters_and_the_order_of_drawing_does_not() -> None:
    """Two events of one round each: another order gives other ratings, so it must be stored."""
    differ = 0
    for seed in range(20):
        rng = Random(seed)
        rounds = {(event, 0): draw_round(rng) for event in range(2)}
        _, one = apply_in([(0, 0), (1, 0)], rounds)
        _, other = apply_in([(1, 0), (0, 0)], rounds)
        differ += one != other
    assert differ > 10


def _void_one(round_: Round, rng: Random) -> Round:
    if not round_.blocks:
        return round_
    void = rng.randrange(len(round_.blocks))
    blocks = [replace(b, void=b.void or at == void) for at, b in enumerate(round_.blocks)]
    return replace(round_, blocks=tuple(blocks))
