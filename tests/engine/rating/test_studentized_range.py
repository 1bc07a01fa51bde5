"""Quantiles of the studentized range, against published tables and another library."""

import math

import pytest

from engine.rating.studentized_range import quantile


@pytest.mark.parametrize(
    ("count", "freedom", "expected"),
    # H. L. Harter, "Tables of range and studentized range", 1960; upper 5 % points.
    [(2, 10, 3.151), (3, 10, 3.877), (10, 20, 5.008), (20, 60, 5.241), (100, math.inf, 6.085)],
)
def test_quantiles_are_those_of_the_tables(count: int, freedom: float, expected: float) -> None:
    assert quantile(count, freedom) == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("probability", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("freedom", [4, 19, 199, math.inf])
@pytest.mark.parametrize("count", [2, 8, 1000])
def test_quantiles_are_those_of_scipy(count: int, freedom: float, probability: float) -> None:
    from scipy.stats import studentized_range  # it takes a second to load

    # Its function of quantiles would take ten times as long.
    found = quantile(count, freedom, probability)
    below, above = studentized_range.cdf([found * (1 - 1e-4), found * (1 + 1e-4)], count, freedom)
    assert below < probability < above


def test_a_range_that_cannot_be_computed_is_named_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"1 values, 3 degrees of freedom.*at least 4 degrees"):
        quantile(1, 3)
