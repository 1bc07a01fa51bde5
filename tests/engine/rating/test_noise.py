"""Noise: the model agrees with leagues of equal bots that the real fold rates."""

import math
from random import Random
from statistics import pstdev

import pytest

from engine.blocks import seat_orders
from engine.rating import elo
from engine.rating.noise import noise_after
from engine.rating.results import MatchResult

SEATS = 4
BLOCK_ERROR = math.sqrt(5 / 36 / SEATS) / (math.log(10) / 1600)
"""Of equal bots with random places: in a match the win share has the variance 5/36."""


def league(rng: Random, bots: int, rounds: int) -> list[list[int]]:
    """Return the ratings of equal bots in milli-Elo after each round; each plays one block."""
    standings: dict[int, elo.RatingState] = {}
    after = []
    for _ in range(rounds):
        order = rng.sample(range(bots), bots)
        blocks = []
        for number in range(bots // SEATS):
            table = order[number * SEATS : (number + 1) * SEATS]
            results = [
                MatchResult(
                    tuple(table[seat] for seat in row),
                    tuple(rng.sample(range(1, SEATS + 1), SEATS)),
                    (0,) * SEATS,
                )
                for row in seat_orders(SEATS)
            ]
            blocks.append(elo.Block(number, dict.fromkeys(table, 1), results))
        applied = elo.apply_round(standings, elo.Round(blocks))
        standings = dict(applied.states)
        after.append([standings[bot].rating for bot in range(bots)])
    return after


def test_the_model_agrees_with_leagues_of_equal_bots() -> None:
    rng = Random(20)
    ratings = [league(rng, bots=16, rounds=24) for _ in range(12)]
    for number, noise in zip((5, 10, 24), noise_after((5, 10, 24), BLOCK_ERROR), strict=True):
        found = [rating / 1000 for one in ratings for rating in one[number - 1]]
        assert 1.96 * pstdev(found) == pytest.approx(noise.rating, rel=0.15)


def test_more_blocks_bring_a_better_estimate_and_a_calmer_rating() -> None:
    early, late, later = noise_after((10, 20, 400), BLOCK_ERROR)
    assert early.performance == pytest.approx(late.performance * math.sqrt(2))
    assert early.rating > late.rating > later.rating > 0
    assert 1 > early.still_to_go > late.still_to_go > later.still_to_go > 0


def test_without_luck_nothing_moves() -> None:
    assert noise_after([1, 2], 0.0)[1][1:3] == (0, 0)


@pytest.mark.parametrize("blocks", [[0], [2, 1], [3, 3]])
def test_numbers_that_do_not_ascend_are_refused(blocks: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        noise_after(blocks, 100.0)


@pytest.mark.parametrize("error", [-1.0, math.nan, math.inf])
def test_an_error_that_is_no_number_is_refused(error: float) -> None:
    with pytest.raises(ValueError, match="block_error"):
        noise_after([1], error)
