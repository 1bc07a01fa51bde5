import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.blocks import seat_orders
from engine.rating.intervals import Z_95, half_width
from engine.rating.performance import (
    ANCHOR_ELO,
    ELO_PER_NAT,
    PairResults,
    Performance,
    fit,
)
from engine.rating.rank_bands import rank_bands
from engine.rating.results import MatchResult, pair_results

N = 4
PAIRS = tuple(combinations(range(N), 2))


def simulate(
    rng: np.random.Generator, strengths: npt.ArrayLike, blocks: int, luck: float = 0.5
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Play duplicate blocks of four in which the Bradley-Terry model is exact.

    A bot's score is its strength plus Gumbel noise, so i beats j with logistic(r_i - r_j) at
    every table. The noise is the luck of the seat, the same in all matches of the deal, with
    probability ``luck``, else its own: the matches of a block are correlated, as on the ladder.

    Returns:
        Bots (blocks, 4) and shares (blocks, 6), as `PairResults.extend` takes them.
    """
    r = np.asarray(strengths, float)
    tables = np.argsort(rng.random((blocks, len(r))), axis=1)[:, :N]
    seats = np.argsort(np.array(seat_orders(N)), axis=1)  # by match and label
    deal = rng.gumbel(size=(blocks, N))[:, seats]
    noise = np.where(rng.random(deal.shape) < luck, deal, rng.gumbel(size=deal.shape))
    scores = r[tables][:, None, :] + noise
    shares = np.stack([(scores[..., a] > scores[..., b]).mean(axis=1) for a, b in PAIRS], axis=1)
    return tables, shares


def league(
    seed: int = 1, bots: int = 8, blocks: int = 60
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return simulate(rng, rng.normal(0, 0.6, bots), blocks)


def fitted(
    bots: npt.ArrayLike, shares: npt.ArrayLike, anchor: int | None = None, draws: float = 3.0
) -> Performance:
    results = PairResults()
    results.extend(bots, shares, np.full(len(np.asarray(bots)), N))
    return fit(results, anchor=anchor, virtual_draws=draws)


def by_bot(performance: Performance) -> dict[int, tuple[float, float]]:
    return {
        bot: (float(elo), float(error))
        for bot, elo, error in zip(
            performance.bots, performance.elo, performance.errors, strict=True
        )
    }


seeds = st.integers(0, 2**32)
few = settings(max_examples=25, deadline=None)


# -- The estimate ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draws", [0.01, 3.0])
def test_the_estimates_match_the_library_choix(seed: int, draws: float) -> None:
    import choix  # it loads SciPy's statistics, which takes a second

    bots, shares = league(seed, bots=12, blocks=80)
    wins = draws / 11 / 2 * (1 - np.eye(12))
    for table, row in zip(bots, shares, strict=True):
        for (a, b), share in zip(PAIRS, row, strict=True):
            wins[table[a], table[b]] += N * share
            wins[table[b], table[a]] += N * (1 - share)
    oracle = choix.ilsr_pairwise_dense(wins, tol=1e-12, max_iter=1000)
    ours = by_bot(fitted(bots, shares, draws=draws))
    for bot, strength in enumerate(oracle - oracle.mean()):
        assert ours[bot][0] == pytest.approx(ANCHOR_ELO + ELO_PER_NAT * strength, abs=1e-4)


def test_two_bots_differ_by_their_log_odds_with_three_virtual_draws() -> None:
    # 9 of 12 points, with 3 draws 10.5 of 15: 400 log10(10.5 / 4.5) = 147.19
    results = PairResults()
    results.add({(7, 9): Fraction(3, 4)}, matches=12)
    elo = by_bot(fit(results, anchor=9))
    assert elo[9][0] == ANCHOR_ELO
    assert elo[7][0] == pytest.approx(ANCHOR_ELO + 400 * math.log10(10.5 / 4.5))


def test_a_bot_that_won_everything_has_a_finite_estimate() -> None:
    results = PairResults()
    results.add({(1, 2): 1, (1, 3): 1, (2, 3): 1}, matches=10_000)
    performance = fit(results)
    assert performance.bots == (1, 2, 3)
    assert np.isfinite(performance.elo).all()


@given(seeds, st.floats(0, 100))
@few
def test_the_fit_converges_for_widely_spread_strengths(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    bots, shares = simulate(rng, rng.normal(0, spread, 9), 40)
    performance = fitted(bots, shares)
    p = 1 / (1 + 10 ** ((performance.elo - performance.elo[:, None]) / 400))
    at = {bot: place for place, bot in enumerate(performance.bots)}
    surplus = 3 / 8 * (0.5 - p).sum(axis=1)  # of the virtual draws
    for table, row in zip(bots.tolist(), shares, strict=True):
        for (a, b), share in zip(PAIRS, row, strict=True):
            i, j = at[table[a]], at[table[b]]
            surplus[i] += N * (share - p[i, j])
            surplus[j] -= N * (share - p[i, j])
    assert np.abs(surplus).max() < 1e-6


@given(seeds)
@few
def test_the_anchor_has_1500_and_has_no_other_effect(seed: int) -> None:
    bots, shares = league(seed)
    free, held = fitted(bots, shares), fitted(bots, shares, anchor=5)
    shift = by_bot(held)[5][0] - by_bot(free)[5][0]
    assert by_bot(held)[5][0] == ANCHOR_ELO
    assert free.elo.mean() == pytest.approx(ANCHOR_ELO)
    assert held.bots == free.bots
    assert held.elo == pytest.approx(free.elo + shift)
    assert held.errors == pytest.approx(free.errors)
    assert held.bands == free.bands


@given(seeds)
@few
def test_ids_seats_and_the_order_of_blocks_have_no_effect(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bots, shares = league(seed)
    names = rng.permutation(1000)[:8]
    order = rng.permutation(len(bots))
    turned = np.array([PAIRS.index((3 - b, 3 - a)) for a, b in PAIRS])
    other = by_bot(fitted(names[bots][order, ::-1], 1 - shares[order][:, turned]))
    for bot, (elo, error) in by_bot(fitted(bots, shares)).items():
        assert other[int(names[bot])] == pytest.approx((elo, error))


@given(seeds)
@few
def test_reversing_all_results_mirrors_the_estimates(seed: int) -> None:
    bots, shares = league(seed)
    mirror = by_bot(fitted(bots, 1 - shares))
    for bot, (elo, error) in by_bot(fitted(bots, shares)).items():
        assert mirror[bot] == pytest.approx((2 * ANCHOR_ELO - elo, error))


# -- What goes in ------------------------------------------------------------------------------


def test_adding_blocks_one_by_one_equals_adding_them_at_once() -> None:
    bots, shares = league()
    results = PairResults()
    for table, row in zip(bots.tolist(), shares.tolist(), strict=True):
        results.add(
            {(table[a], table[b]): s for (a, b), s in zip(PAIRS, row, strict=True)}, matches=N
        )
    assert len(results) == len(bots)
    one_by_one, at_once = fit(results), fitted(bots, shares)
    assert one_by_one.bots == at_once.bots
    assert one_by_one.elo == pytest.approx(at_once.elo)
    assert one_by_one.errors == pytest.approx(at_once.errors)


def test_the_pair_results_of_a_block_can_be_added_unchanged() -> None:
    played = [MatchResult((3, 1, 2), (1, 2, 2)), MatchResult((1, 2, 3), (1, 2, 3))]
    results = PairResults()
    results.add(pair_results(played), matches=2)
    assert set(results.bots) == {1, 2, 3}
    assert len(results) == 1


def test_tables_of_different_sizes_are_fitted_together() -> None:
    results = PairResults()
    results.add({(1, 2): 0.75}, matches=2)
    results.add({(1, 2): 1, (1, 3): 0.5, (2, 3): 0}, matches=3)
    performance = fit(results)
    assert sorted(performance.bots) == [1, 2, 3]
    assert dict(zip(performance.bots, performance.blocks, strict=True)) == {1: 2, 2: 2, 3: 1}
    assert by_bot(performance)[1][0] > by_bot(performance)[2][0]


def test_excluding_a_bot_keeps_the_results_between_the_others() -> None:
    whole, part = PairResults(), PairResults()
    whole.add({(1, 2): 0.75, (1, 3): 0, (2, 3): 0}, matches=4, only={1, 2})
    whole.add({(1, 3): 0, (2, 3): 0}, matches=4, only={3})
    part.add({(1, 2): 0.75}, matches=4)
    assert len(whole) == 1
    assert by_bot(fit(whole)) == by_bot(fit(part))


@pytest.mark.parametrize(
    ("bots", "shares", "matches", "message"),
    [
        ([[1, 1]], [[0.5]], [4], "sits twice"),
        ([[1, 2]], [[1.5]], [4], "from 0 to 1"),
        ([[1, 2]], [[math.nan]], [4], "from 0 to 1"),
        ([[1, 2]], [[0.5]], [0], "at least one match"),
        ([[1, 2, 3]], [[0.5]], [4], "shares"),
        ([[1]], [[]], [4], "two or more"),
    ],
)
def test_an_invalid_block_is_refused(
    bots: list[list[int]], shares: list[list[float]], matches: list[int], message: str
) -> None:
    results = PairResults()
    with pytest.raises(ValueError, match=message):
        results.extend(bots, shares, matches)
    assert len(results) == 0
    assert results.bots == ()


def test_a_pair_without_a_result_is_refused() -> None:
    with pytest.raises(ValueError, match="bots 2 and 3 have no pair result"):
        PairResults().add({(1, 2): 0.5, (1, 3): 0.5}, matches=4)


def test_an_anchor_without_results_is_refused() -> None:
    bots, shares = league()
    with pytest.raises(ValueError, match="bot 99 has no results"):
        fitted(bots, shares, anchor=99)


def test_a_fit_without_results_is_empty() -> None:
    assert fit(PairResults()).bots == ()


# -- Error bars --------------------------------------------------------------------------------


def test_the_standard_errors_match_the_cluster_robust_formula() -> None:
    bots, shares = league(blocks=30)
    performance = fitted(bots, shares)
    at = {bot: place for place, bot in enumerate(performance.bots)}
    p = 1 / (1 + 10 ** ((performance.elo - performance.elo[:, None]) / 400))
    meat, matches = np.zeros((8, 8)), 3 / 7 * (1 - np.eye(8))
    for table, row in zip(bots.tolist(), shares, strict=True):
        g = np.zeros(8)
        for (a, b), share in zip(PAIRS, row, strict=True):
            i, j = at[table[a]], at[table[b]]
            g[i] += N * (share - p[i, j])
            g[j] += N * (1 - share - p[j, i])
            matches[i, j] += N
            matches[j, i] += N
        meat += np.outer(g, g)
    weights = matches * p * (1 - p)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    expected = inverse @ meat @ inverse * 30 / 29 * ELO_PER_NAT**2
    assert performance.covariance.among(range(8)) == pytest.approx(expected, abs=1e-6)
    assert performance.errors == pytest.approx(np.sqrt(np.diag(expected)))
    i, j = performance.bots.index(2), performance.bots.index(6)
    difference, error = performance.difference(2, 6)
    assert difference == pytest.approx(performance.elo[i] - performance.elo[j])
    assert error**2 == pytest.approx(expected[i, i] + expected[j, j] - 2 * expected[i, j])


@pytest.mark.parametrize(("bots", "blocks"), [(8, 40), (8, 160), (24, 90), (24, 120)])
def test_a_95_percent_interval_covers_the_truth_in_94_to_96_percent(bots: int, blocks: int) -> None:
    # 12 000 intervals, of 15 to 80 blocks a bot: a coverage of 95 % is measured to 0.3 points.
    rng = np.random.default_rng(2026)
    covered, pairs_covered = [], []
    for _ in range(12_000 // bots):
        true = rng.normal(0, 0.5, bots)  # about 90 Elo
        performance = fitted(*simulate(rng, true, blocks))
        truth = (true - true.mean())[list(performance.bots)] * ELO_PER_NAT + ANCHOR_ELO
        widths = list(map(half_width, performance.errors.tolist(), performance.blocks))
        covered.append(abs(performance.elo - truth) < widths)
        difference, error = performance.difference(0, 1)
        true_difference = float(true[0] - true[1]) * ELO_PER_NAT
        pairs_covered.append(abs(difference - true_difference) < Z_95 * error)
    assert 0.94 <= np.mean(covered) <= 0.96
    # One a league, so measured less well.
    assert 0.90 <= np.mean(pairs_covered) <= 0.98


def test_the_interval_of_a_bot_with_few_blocks_covers_far_less_than_95_percent() -> None:
    # Why the league shows none below five blocks; 150 leagues, so to 4 points or so.
    rng = np.random.default_rng(7)
    covered: dict[int, list[bool]] = {1: [], 5: []}
    for _ in range(150):
        true = rng.normal(0, 0.5, 8)
        bots, shares = simulate(rng, true, 100)
        sat = np.flatnonzero((bots == 0).any(axis=1))
        for few, held in covered.items():
            kept = np.delete(np.arange(100), sat[few:])
            performance = fitted(bots[kept], shares[kept])
            at = performance.bots.index(0)
            truth = (true[0] - true.mean()) * ELO_PER_NAT + ANCHOR_ELO
            held.append(abs(performance.elo[at] - truth) < Z_95 * performance.errors[at])
    assert np.mean(covered[1]) < 0.5
    assert 0.75 < np.mean(covered[5]) < 0.95


def test_the_errors_of_a_single_block_are_infinite_and_its_bots_share_a_band() -> None:
    results = PairResults()
    results.add({(1, 2): 1, (1, 3): 1, (2, 3): 1}, matches=3)
    performance = fit(results)
    assert performance.errors.tolist() == [math.inf] * 3
    assert performance.difference(1, 3)[1] == math.inf
    assert performance.bands == (1, 1, 1)


# -- Rank bands --------------------------------------------------------------------------------


MANY = 10_000
"""Blocks of a bot: so many that its error is known well."""


def test_a_band_ends_before_the_first_bot_significantly_worse_than_its_best() -> None:
    # Independent errors of 10, six bots: significant beyond 4.030 * 10 (tables of Tukey's range).
    elo = [1560, 1540, 1520, 1519, 1480, 1400]
    assert rank_bands(elo, np.diag([100.0] * 6), [MANY] * 6) == (1, 1, 1, 2, 2, 3)


def test_a_band_depends_on_the_covariance_of_two_estimates() -> None:
    apart = [[100.0, 0.0], [0.0, 100.0]]
    together = [[100.0, 90.0], [90.0, 100.0]]
    against = [[100.0, -90.0], [-90.0, 100.0]]
    blocks = [MANY, MANY]
    assert rank_bands([1520, 1500], apart, blocks) == (1, 1)
    assert rank_bands([1520, 1500], together, blocks) == (1, 2)  # 1.96 * sqrt(20) = 8.8
    assert rank_bands([1535, 1500], apart, blocks) == (1, 2)
    assert rank_bands([1535, 1500], against, blocks) == (1, 1)  # 1.96 * sqrt(380) = 38.2


def test_fewer_blocks_of_either_bot_widen_a_band() -> None:
    independent = np.diag([100.0, 100.0])
    # Student's t with 4 degrees of freedom has 2.776, so 39.3 is significant.
    for blocks in ([5, 5], [5, MANY], [MANY, 5]):
        assert rank_bands([1539, 1500], independent, blocks) == (1, 1)
        assert rank_bands([1540, 1500], independent, blocks) == (1, 2)


@pytest.mark.parametrize(("count", "blocks"), [(4, 20), (8, 20), (8, 100), (40, 20)])
def test_equal_bots_are_hardly_ever_cut_into_bands(count: int, blocks: int) -> None:
    rng = np.random.default_rng(count * blocks)
    leagues = 150
    cut = sum(
        fit(equal_league(rng, bots=count, blocks=blocks)).bands[-1] > 1 for _ in range(leagues)
    )
    # At most 8 % are promised. At 8 %, 22 of 150 leagues would be cut once in 500 tries.
    assert cut <= 22


def equal_league(rng: np.random.Generator, *, bots: int, blocks: int) -> PairResults:
    """Return the results of equally strong bots at tables of four, four matches a block."""
    rows: list[np.ndarray] = []
    while len(rows) < bots * blocks // 4:
        rows += list(rng.permutation(bots).reshape(-1, 4))
    scores = rng.normal(size=(4, len(rows), 4))
    first, second = np.triu_indices(4, 1)
    shares = (scores[:, :, first] > scores[:, :, second]).mean(axis=0)
    results = PairResults()
    results.extend(np.array(rows), shares, np.full(len(rows), 4))
    return results


def test_no_bots_have_no_bands() -> None:
    assert rank_bands([], np.zeros((0, 0)), []) == ()
