"""What the screen for collusion expects of honest pairs."""

from random import Random

import pytest

from engine.rating.style_effects import PRIOR_SPREAD, Measured, expected_gains

BOTS = range(10)


def pairs(seed: int, *, spread: float, error: float = 0.001) -> list[Measured]:
    """Return gains of pairs with partner effects of 0, 0.02, ..., and a spread of their own."""
    rng = Random(seed)
    return [
        Measured(p, g, 0.02 * p + rng.gauss(0, spread) + rng.gauss(0, error), error**2)
        for p in BOTS
        for g in BOTS
        if p != g
    ]


def test_the_effect_of_a_partner_is_expected_and_not_a_surprise() -> None:
    measured = pairs(1, spread=0.005)
    for pair, expected in zip(measured, expected_gains(measured), strict=True):
        assert expected.gain == pytest.approx(0.02 * pair.partner, abs=0.012)


@pytest.mark.parametrize("spread", [0.03, 0.06])
def test_the_spread_of_pairs_is_found(spread: float) -> None:
    measured = pairs(2, spread=spread)
    typical = sorted(one.variance for one in expected_gains(measured))[len(measured) // 2]
    assert typical**0.5 == pytest.approx(spread, rel=0.2)


def test_a_colluding_pair_does_not_hide_itself() -> None:
    measured = pairs(3, spread=0.01)
    before = expected_gains(measured)
    at = 7
    measured[at] = measured[at]._replace(gain=0.6)
    after = expected_gains(measured)
    assert after[at].gain == pytest.approx(before[at].gain, abs=0.03)
    assert after[at].variance ** 0.5 < 0.06  # a tenth of the gain


def test_a_single_pair_gets_the_spread_that_is_assumed() -> None:
    [expected] = expected_gains([Measured(1, 2, 0.3, 0.0001)])
    assert expected.variance >= PRIOR_SPREAD**2 / 2
    assert expected_gains([]) == []
