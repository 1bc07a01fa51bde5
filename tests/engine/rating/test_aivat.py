"""The estimated mean values of `benchmarks.aivat` are right, by enumeration of a small case."""

from collections import Counter
from itertools import permutations
from random import Random

import numpy as np

from benchmarks.aivat import Floats, Value, reordered, stepped
from engine.deals import seeded_shuffle
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import PLAY_ID
from engine.playouts import UNIFORM
from engine.playouts.results import half_points

SEATS = 4
SAMPLES = 1500


def last_play() -> TwelveDays:
    """Return the last play of a match, with five cards left to draw."""
    state = TwelveDays.start("calliope", SEATS, seeded_shuffle(bytes(32)))
    while state.day < 12 or state.phase != "play":
        state.step_unchecked({seat: state.legal(seat)[-1] for seat in state.actors})
    state.deck, state.top = [4, 4, 9, 11, 12], 0
    return state


def enumerated(state: TwelveDays, choices: dict[int, int], free: int | None) -> Floats:
    """Return the opponents beaten by each seat, for all orders of the deck and moves of a seat."""
    found = []
    options = [choices] if free is None else [{**choices, free: move} for move in state.legal(free)]
    for actions in options:
        for order in permutations(state.deck):
            twin = state.copy()
            twin.deck = list(order)
            twin.step_unchecked(actions)
            assert twin.scores is not None
            found.append([half_points(twin.scores, seat) / 2 for seat in range(SEATS)])
    return np.array(found)


def check_mean_before(free: int | None) -> None:
    state = last_play()
    choices = {seat: state.legal(seat)[-1] for seat in range(SEATS)}
    exact = enumerated(state, choices, free)
    uniform = () if free is None else (free,)
    value = Value(UNIFORM, SAMPLES, playouts=1)
    before = value(lambda rng: stepped(state, choices, uniform, rng), "a key").mean(axis=0)
    error = exact.std(axis=0) / (2 * SAMPLES) ** 0.5
    assert exact.std(axis=0).max() > 0.1, "the event decides nothing here"
    assert np.all(np.abs(before - exact.mean(axis=0)) <= 4 * error)


def test_the_value_before_a_draw_is_the_mean_of_the_values_after_it() -> None:
    assert min(last_play().legal(0)) >= PLAY_ID
    check_mean_before(free=None)


def test_the_value_before_a_random_move_is_the_mean_of_the_values_after_it() -> None:
    check_mean_before(free=0)


def test_each_order_of_the_cards_left_after_a_draw_is_equally_likely() -> None:
    state = last_play()
    state.deck, state.top = [9, 8, 9, 1, 2, 3], 3
    found = Counter(tuple(reordered(state, 3, Random(n)).deck) for n in range(6000))
    assert set(found) == set(permutations([1, 2, 3]))
    assert all(abs(count - 1000) < 4 * 29 for count in found.values())
    assert state.deck == [9, 8, 9, 1, 2, 3]


def test_the_same_random_numbers_order_the_cards_alike_before_and_after_a_draw() -> None:
    state = last_play()
    drawn = state.copy()
    drawn.top = 2
    before = reordered(state, 0, Random(5)).deck
    after = reordered(drawn, 2, Random(5)).deck
    assert [card for card in before if card != 4] == after
