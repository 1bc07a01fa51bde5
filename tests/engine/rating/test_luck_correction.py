"""Performance with the luck of the cards taken off."""

import numpy as np
import pytest

from engine.rating.performance import PairResults, Performance, fit

PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
STRENGTHS = np.array([0.6, 0.2, -0.2, -0.6])  # in nats


def fitted(seed: int, *, blocks: int = 60, luck: bool = True, spread: float = 1.0) -> Performance:
    """Return the fit of four bots whose cards move each match by so many nats."""
    rng = np.random.default_rng(seed)
    matches = 4
    cards = rng.normal(0, spread, (blocks, matches, 4))
    first, second = np.array(PAIRS).T
    form = STRENGTHS + cards
    # Gumbel noise: the model of Bradley and Terry holds but for the cards.
    form = form + rng.gumbel(size=form.shape)
    shares = (form[..., first] > form[..., second]).mean(axis=1)
    results = PairResults()
    # Near equality a nat is a quarter of a win share; cards blunt it a little.
    known = 0.2 * cards.sum(axis=1) if luck else None
    results.extend(np.tile(np.arange(4), (blocks, 1)), shares, np.full(blocks, matches), known)
    return fit(results)


def spread_of(luck: bool) -> float:
    estimates = [fitted(seed, luck=luck).difference(0, 3)[0] for seed in range(60)]
    return float(np.var(estimates))


def test_estimates_vary_less_without_luck() -> None:
    assert spread_of(luck=True) < 0.8 * spread_of(luck=False)


def test_the_stated_errors_fall_with_the_variance() -> None:
    plain, corrected = (fitted(1, luck=luck, blocks=400) for luck in (False, True))
    assert corrected.difference(0, 3)[1] < 0.9 * plain.difference(0, 3)[1]
    estimates = [fitted(seed).difference(0, 3) for seed in range(60)]
    stated = np.mean([error for _, error in estimates])
    assert stated == pytest.approx(np.std([found for found, _ in estimates]), rel=0.25)


def test_luck_moves_no_estimate_on_average() -> None:
    moved = [
        fitted(seed).difference(0, 3)[0] - fitted(seed, luck=False).difference(0, 3)[0]
        for seed in range(60)
    ]
    assert abs(np.mean(moved)) < 3 * np.std(moved) / len(moved) ** 0.5


def test_no_luck_changes_nothing_and_good_luck_lowers_a_bot() -> None:
    def with_luck(luck: list[list[float]] | None) -> Performance:
        results = PairResults()
        bots, shares = [[1, 2], [1, 2], [1, 2]], [[0.5], [0.75], [0.5]]
        results.extend(bots, shares, [4, 4, 4], luck)
        return fit(results)

    plain = with_luck(None)
    assert with_luck([[0.0, 0.0]] * 3).elo.tolist() == plain.elo.tolist()
    assert with_luck([[0.3, -0.3]] * 3).difference(1, 2)[0] < plain.difference(1, 2)[0] - 20
    # Luck that both share cancels.
    assert with_luck([[0.3, 0.3]] * 3).elo == pytest.approx(plain.elo)


def test_a_bot_that_wins_everything_has_a_finite_performance() -> None:
    results = PairResults()
    bad_luck = [[-4.0, 4.0]] * 30
    results.extend([[1, 2]] * 30, [[1.0]] * 30, [4] * 30, bad_luck)
    assert np.isfinite(fit(results).elo).all()


@pytest.mark.parametrize("luck", [[[0.1]], [[0.1, float("nan")]], [0.1, 0.2]])
def test_luck_of_another_shape_is_refused(luck: list[float]) -> None:
    with pytest.raises(ValueError, match="luck must be finite numbers"):
        PairResults().extend([[1, 2]], [[0.5]], [2], luck)
