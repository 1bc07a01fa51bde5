"""The probability of being the best, beside known values and simulated leagues."""

import math

import numpy as np
import pytest

from engine.rating.best_chance import MAX_CANDIDATES, best_chances


def normal(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def test_of_two_bots_the_chance_is_that_of_the_difference() -> None:
    # Variance of the difference: 200 + 300 - 2 * 50 = 400.
    chances = best_chances([1510, 1500], [[200, 50], [50, 300]])
    assert chances == pytest.approx([normal(10 / 20), normal(-10 / 20)], abs=0.01)


def test_equal_bots_have_equal_chances_that_add_up_to_one() -> None:
    chances = best_chances([1500] * 5, 100 * (np.eye(5) - 1 / 5))
    assert chances.sum() == pytest.approx(1)
    assert chances == pytest.approx([0.2] * 5, abs=0.01)


def test_of_three_independent_bots_the_chances_are_those_of_the_integral() -> None:
    elo, errors = np.array([1530.0, 1520.0, 1490.0]), np.array([10.0, 30.0, 20.0])
    grid = np.linspace(1300, 1800, 5001)
    below = np.array(
        [
            [normal(float(x)) for x in (grid - mean) / error]
            for mean, error in zip(elo, errors, strict=True)
        ]
    )
    expected = [np.trapezoid(np.delete(below, i, axis=0).prod(axis=0), below[i]) for i in range(3)]
    assert best_chances(elo, np.diag(errors**2)) == pytest.approx(expected, abs=0.01)


def test_a_more_uncertain_bot_with_a_lower_estimate_may_be_the_most_probable_best() -> None:
    # Six bots like the first, and one that is a little behind with a long error bar.
    elo, errors = [1510] * 6 + [1505], [20] * 6 + [80]
    chances = best_chances(elo, np.diag(np.square(errors).astype(float)))
    assert chances.argmax() == 6


def test_a_bot_far_behind_has_no_chance_and_the_same_fit_gives_the_same_numbers() -> None:
    covariance = np.diag([100.0, 100.0, 100.0])
    chances = best_chances([1600, 1590, 1400], covariance)
    assert chances[2] == 0
    assert best_chances([1600, 1590, 1400], covariance).tolist() == chances.tolist()


def test_of_very_many_equal_bots_the_first_ones_are_drawn() -> None:
    count = MAX_CANDIDATES + 100
    chances = best_chances(np.linspace(1501, 1500, count), np.eye(count) * 400)
    assert np.count_nonzero(chances) <= MAX_CANDIDATES
    assert chances.sum() == pytest.approx(1)


def test_one_bot_is_the_best_and_no_bot_has_a_chance_without_errors() -> None:
    assert best_chances([1500.0], [[0.0]]).tolist() == [1]
    assert best_chances([], np.zeros((0, 0))).tolist() == []
    assert np.isnan(best_chances([1600, 1500], np.full((2, 2), math.inf))).all()
