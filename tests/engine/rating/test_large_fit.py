"""The fit of a large ladder, beside the exact fit of the same results."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rating import large_covariance, performance
from engine.rating.performance import PairResults, Performance, fit
from engine.rating.rank_bands import difference_errors

BOTS = 1100
Tables = npt.NDArray[np.int64]


def near_rating(rng: np.random.Generator, strengths: npt.ArrayLike, rounds: int) -> Tables:
    """Return tables of four as a ladder draws them: near in strength, a tenth at random."""
    true = np.asarray(strengths, float)
    made = []
    for _ in range(rounds):
        noisy = true + rng.uniform(-0.6, 0.6, len(true))
        anywhere = rng.random(len(true)) < 0.1
        noisy[anywhere] = rng.choice(noisy, anywhere.sum())
        made.append(np.argsort(noisy)[: len(true) // 4 * 4].reshape(-1, 4))
    return np.concatenate(made)


def played(
    rng: np.random.Generator, strengths: npt.NDArray[np.float64], tables: Tables
) -> npt.NDArray[np.float64]:
    """Return the shares of each table: as many matches as seats, in a Bradley-Terry model."""
    seats = tables.shape[1]
    noise = rng.gumbel(size=(len(tables), seats, seats))
    scores = strengths[tables][:, None, :] + noise
    first, second = np.triu_indices(seats, 1)
    return (scores[..., first] > scores[..., second]).mean(axis=1)


def both_fits(results: PairResults, monkeypatch: pytest.MonkeyPatch) -> list[Performance]:
    """Return the exact fit and the large one."""
    fits = []
    for limit in (10_000, 1):
        monkeypatch.setattr(performance, "MAX_EXACT", limit)
        fits.append(fit(results))
    return fits


def in_order_of(bots: tuple[int, ...], fitted: Performance) -> list[int]:
    at = {bot: position for position, bot in enumerate(fitted.bots)}
    return [at[bot] for bot in bots]


@pytest.fixture(scope="module")
def league() -> PairResults:
    """1 100 bots with 12 blocks each at tables of four, and some at tables of three."""
    rng = np.random.default_rng(5)
    strengths = rng.normal(0, 1.1, BOTS)
    results = PairResults()
    tables = near_rating(rng, strengths, 12)
    results.extend(tables, played(rng, strengths, tables), np.full(len(tables), 4))
    threes = rng.permutation(BOTS)[:300].reshape(-1, 3)
    results.extend(threes, played(rng, strengths, threes), np.full(len(threes), 3))
    return results


def test_the_estimates_of_a_large_fit_are_those_of_the_exact_fit(
    league: PairResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, large = both_fits(league, monkeypatch)
    order = in_order_of(exact.bots, large)
    assert large.elo[order] == pytest.approx(exact.elo, abs=1e-3)


def test_the_standard_errors_of_a_large_fit_are_within_5_percent_of_the_exact_ones(
    league: PairResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, large = both_fits(league, monkeypatch)
    order = in_order_of(exact.bots, large)
    off = large.errors[order] / exact.errors - 1
    assert np.sqrt((off**2).mean()) < 0.02
    assert np.abs(off).max() < 0.06
    for bot in (0, BOTS // 2, BOTS - 1):
        of_exact = np.delete(difference_errors(exact.covariance, bot), bot)
        of_large = np.delete(difference_errors(large.covariance, order[bot])[order], bot)
        assert of_large == pytest.approx(of_exact, rel=0.06)


def test_a_circle_of_bots_that_play_among_themselves_has_its_true_errors(
    league: PairResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(6)
    circle = np.array([rng.permutation(8)[:4] for _ in range(40)]) + BOTS
    circle[0, 0] = 7  # the only meeting with the others
    results = PairResults()
    for blocks in league.groups():
        results.extend(
            np.array(league.bots)[blocks.bots],
            blocks.points / blocks.matches[:, None],
            blocks.matches,
        )
    results.extend(circle, rng.integers(0, 5, (40, 6)) / 4, np.full(40, 4))
    exact, large = both_fits(results, monkeypatch)
    in_circle = [position for position, bot in enumerate(exact.bots) if bot >= BOTS]
    errors = large.errors[in_order_of(exact.bots, large)]
    assert errors[in_circle] == pytest.approx(exact.errors[in_circle], rel=0.05)
    # In one group with other bots, their own distance from the field is lost.
    monkeypatch.setattr(large_covariance, "_MAX_ALONE", 0)
    lost = fit(results)
    errors = lost.errors[in_order_of(exact.bots, lost)]
    assert np.abs(errors[in_circle] / exact.errors[in_circle] - 1).max() > 0.2


def test_rows_and_parts_of_a_covariance_agree(
    league: PairResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, large = both_fits(league, monkeypatch)
    chosen = [0, 3, 500, BOTS - 1]
    part = large.covariance.among(chosen)
    assert np.sqrt(np.diag(part)) == pytest.approx(large.errors[chosen])
    for line, position in zip(part, chosen, strict=True):
        row = large.covariance.row(position)
        assert row[chosen] == pytest.approx(line)
        assert row.sum() == pytest.approx(0, abs=1e-6 * row.max())


@given(st.integers(0, 2**32), st.floats(0, 100))
@settings(max_examples=10, deadline=None)
def test_a_large_fit_converges_for_widely_spread_strengths(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, spread, 24)
    tables = np.argsort(rng.random((60, 24)), axis=1)[:, :4]
    results = PairResults()
    results.extend(tables, played(rng, strengths, tables), np.full(60, 4))
    with pytest.MonkeyPatch.context() as patch:
        exact, large = both_fits(results, patch)
    assert large.elo[in_order_of(exact.bots, large)] == pytest.approx(exact.elo, abs=1e-3)
    assert large.errors[in_order_of(exact.bots, large)] == pytest.approx(exact.errors, rel=1e-3)


def test_ids_far_apart_are_counted_like_ids_in_a_row() -> None:
    rng = np.random.default_rng(1)
    tables = np.array([rng.permutation(8)[:4] for _ in range(30)])
    shares = rng.integers(0, 5, (30, 6)) / 4
    near, far = PairResults(), PairResults()
    near.extend(tables, shares, np.full(30, 4))
    far.extend(tables * 10**12 + 5, shares, np.full(30, 4))
    assert far.bots == tuple(bot * 10**12 + 5 for bot in near.bots)
    assert fit(far).elo == pytest.approx(fit(near).elo)
