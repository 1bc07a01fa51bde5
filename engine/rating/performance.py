"""Performance: the Bradley-Terry fit of a ladder, with error bars and rank bands.

The fit is the maximum likelihood of all pair results (R. A. Bradley, M. E. Terry, "Rank analysis of
incomplete block designs", 1952; a tie counts 1/2). The matches of a block depend on each other, so
the standard errors are cluster-robust, with blocks as clusters (K.-Y. Liang, S. L. Zeger,
"Longitudinal data analysis using generalized linear models", 1986). docs/ratings.md gives the
measured coverage of the intervals.

Only the fit and what it imports need NumPy in the engine. The last bits of their floats may differ
between machines, so pages show them, but no rating depends on them.
"""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from engine.errors import quote
from engine.rating.covariance import Covariance, MatrixCovariance, PartOfCovariance
from engine.rating.fit_input import Blocks, PairResults
from engine.rating.large_fit import fit_large
from engine.rating.luck_correction import take_off_luck
from engine.rating.rank_bands import rank_bands

ANCHOR_ELO = 1500.0
ELO_PER_NAT = 400 / math.log(10)
MAX_EXACT = 1000
"""The most bots whose fit uses dense matrices. Above, `large_fit` takes over: its time and memory
grow with bots and blocks, and its standard errors are approximate."""
_MAX_STEPS = 100
_LAST_STEP = 1e-8

_Floats = npt.NDArray[np.float64]

__all__ = ["ANCHOR_ELO", "ELO_PER_NAT", "MAX_EXACT", "PairResults", "Performance", "fit"]


# -- The fit -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Performance:
    """A fitted ladder.

    Attributes:
        bots: bot ids, the best first; the arrays below have this order, with N entries.
        elo: shape (N,), the estimates in Elo. The anchor has 1500; without an anchor, the mean has.
        errors: shape (N,), the standard errors in Elo. They belong to a bot's strength relative to
            the mean of the field; `intervals.half_width` makes the 95 % interval of them. To
            compare two bots, or a bot with the anchor, use `difference`. Infinite if there are
            fewer than two blocks.
        covariance: of the estimates, in Elo squared.
        blocks: the number of blocks of each bot.
    """

    bots: tuple[int, ...]
    elo: _Floats
    errors: _Floats
    covariance: Covariance
    blocks: tuple[int, ...]

    @property
    def bands(self) -> tuple[int, ...]:
        """The rank band of each bot, from 1; each access computes them, see `rank_bands`."""
        return rank_bands(self.elo, self.covariance, self.blocks)

    def difference(self, bot: int, other: int) -> tuple[float, float]:
        """Return by how much a bot is stronger than another, and the standard error, in Elo.

        Raises:
            ValueError: one of the two has no results.
        """
        i, j = (_position(self.bots, either) for either in (bot, other))
        if i == j:
            return 0.0, 0.0
        (of_bot, both), (_, of_other) = self.covariance.among([i, j]).tolist()
        # Infinite if there are fewer than two blocks.
        variance = of_bot + of_other - 2 * both if math.isfinite(both) else math.inf
        return float(self.elo[i] - self.elo[j]), math.sqrt(max(variance, 0.0))


def fit(
    results: PairResults,
    *,
    anchor: int | None = None,
    virtual_draws: float = 3.0,
    among: Container[int] | None = None,
) -> Performance:
    """Return the performance of each bot with results.

    Each bot gets ``virtual_draws`` draws against the field, spread evenly over all other bots. They
    give a finite estimate to a bot that won or lost all its matches, and connect groups of bots
    that never met. They are no evidence, so the block sum of the standard errors leaves them out;
    only the information matrix contains them.

    Up to `MAX_EXACT` bots memory grows with the square of the number of bots, and time with the
    cube. Above, both grow in proportion to bots and results, and the standard errors are
    approximate; docs/ratings-statistics.md gives the measured error. Luck with the cards is taken
    off up to `MAX_EXACT` bots.

    Args:
        results: of current versions, and of the opponents that they had.
        anchor: the bot that has 1500 Elo; None gives 1500 to the mean of all returned bots.
        virtual_draws: above 0.
        among: the bots to return; None returns all. The others are fitted too: their strengths
            are estimated, so that results against them count.

    Raises:
        ValueError: the anchor has no results, or ``virtual_draws`` is not above 0.
    """
    if not virtual_draws > 0:
        raise ValueError(f"virtual_draws must be above 0, not {quote(virtual_draws)}")
    ids = results.bots
    base = None if anchor is None else _position(ids, anchor)
    if not ids:
        empty = np.zeros(0)
        return Performance((), empty, empty, MatrixCovariance(np.zeros((0, 0))), ())
    groups = list(results.groups())
    luck = list(results.luck()) if results.has_luck else None
    strengths, covariance = _fit(groups, luck, len(ids), virtual_draws)
    kept = np.array([among is None or bot in among for bot in ids])
    middle = strengths[kept].mean() if base is None and kept.any() else strengths[base or 0]
    elo = ANCHOR_ELO + ELO_PER_NAT * (strengths - middle)
    blocks = np.zeros(len(ids), np.int64)
    for group in groups:
        blocks += np.bincount(group.bots.ravel(), minlength=len(ids))

    # Bots with equal estimates are sorted by id, so that the order of the results has no effect.
    order = np.lexsort((np.array(ids), -np.round(elo, 6)))
    order = order[kept[order]]
    elo, covariance = elo[order], PartOfCovariance(covariance, order)
    variances = covariance.variances()
    return Performance(
        bots=tuple(ids[i] for i in order.tolist()),
        elo=elo,
        # With few blocks rounding can make a variance negative: then the error is unknown.
        errors=np.sqrt(np.where(variances < 0, np.nan, variances)),
        covariance=covariance,
        blocks=tuple(blocks[order].tolist()),
    )


def _fit(
    groups: Sequence[Blocks], luck: Sequence[_Floats] | None, size: int, virtual_draws: float
) -> tuple[_Floats, Covariance]:
    """Return the strengths in nats, with mean 0, and their covariance in Elo squared."""
    if size > MAX_EXACT and sum(len(group.matches) for group in groups) > 1:
        return fit_large(groups, size, virtual_draws, unit=1 / ELO_PER_NAT)
    wins = _wins(groups, size) + virtual_draws / (size - 1) / 2 * (1 - np.eye(size))
    strengths, information = _maximize(wins)
    if luck is not None:
        groups, strengths = take_off_luck(groups, luck, strengths, information)
    covariance = _sandwich(groups, strengths, information) * ELO_PER_NAT**2
    return strengths, MatrixCovariance(covariance)


# -- Parts of the exact fit --------------------------------------------------------------------


def _position(bots: Sequence[int], bot: int) -> int:
    try:
        return bots.index(bot)
    except ValueError:
        raise ValueError(f"bot {quote(bot)} has no results in this fit") from None


def _wins(groups: Sequence[Blocks], size: int) -> _Floats:
    """Return the points of each bot (row) against each other bot (column), (N, N)."""
    wins = np.zeros(size * size)
    for bots, points, matches in groups:
        for pair, (a, b) in enumerate(combinations(range(bots.shape[1]), 2)):
            i, j, won = bots[:, a], bots[:, b], points[:, pair]
            wins += np.bincount(i * size + j, won, minlength=size * size)
            wins += np.bincount(j * size + i, matches - won, minlength=size * size)
    return wins.reshape(size, size)


def _maximize(wins: _Floats) -> tuple[_Floats, _Floats]:
    """Return the most likely strengths in nats, with mean 0, and the Fisher information there.

    The method is Newton's. The likelihood is concave, but a full step can overshoot. So if a step
    changes the difference of two bots by D > 1 nats, it is multiplied by ln(1 + D) / D, which never
    overshoots (F. Bach, "Self-concordant analysis for logistic regression", 2010).
    """
    size = len(wins)
    matches = wins + wins.T
    # Start from the odds of each bot against its opponents: that saves four of nine steps.
    strengths = np.log(wins.sum(axis=1) / wins.sum(axis=0))
    strengths -= strengths.mean()
    for _ in range(_MAX_STEPS):
        p = _expectation(strengths[:, None] - strengths)
        gradient = (wins - matches * p).sum(axis=1)
        information = _information(matches, p)
        # The rows add up to 0, because a constant added to all strengths has no effect. The term
        # with the trace also fixes the mean of the strengths: one solution is left, with mean 0.
        step = np.linalg.solve(information + np.trace(information) / size**2, gradient)
        reach = float(np.ptp(step))
        strengths += step * (math.log1p(reach) / reach if reach > 1 else 1)
        strengths -= strengths.mean()
        if reach < _LAST_STEP:
            break
    return strengths, information


def _expectation(differences: _Floats) -> _Floats:
    """Return the expected pair results of differences in nats: 1 / (1 + exp(-x))."""
    # exp overflows for large differences; tanh does not.
    return 0.5 + 0.5 * np.tanh(differences / 2)


def _information(matches: _Floats, p: _Floats) -> _Floats:
    """Return the Fisher information (N, N) of so many matches with these expectations."""
    between: _Floats = matches * p * p.T  # p_ij p_ji
    between *= -1
    np.fill_diagonal(between, 0)
    np.fill_diagonal(between, -between.sum(axis=1))
    return between


def _sandwich(groups: Sequence[Blocks], strengths: _Floats, information: _Floats) -> _Floats:
    """Return the covariance of the strengths: H+ (sum over blocks of g g') H+ B / (B - 1)."""
    size = len(strengths)
    count = sum(len(matches) for _, _, matches in groups)
    if count < 2:
        return np.full((size, size), np.inf)
    meat = np.zeros(size * size)
    for bots, points, matches in groups:
        n = bots.shape[1]
        g = np.zeros(bots.shape)
        for pair, (a, b) in enumerate(combinations(range(n), 2)):
            p = _expectation(strengths[bots[:, a]] - strengths[bots[:, b]])
            surplus = points[:, pair] - matches * p
            g[:, a] += surplus
            g[:, b] -= surplus
        for a in range(n):
            for b in range(n):
                cell = bots[:, a] * size + bots[:, b]
                meat += np.bincount(cell, g[:, a] * g[:, b], minlength=size * size)
    # The pseudo-inverse of a matrix whose null space is the constants, by an ordinary inverse.
    held = float(np.trace(information)) / size
    inverse = np.linalg.inv(information + held / size) - 1 / (held * size)
    covariance: _Floats = inverse @ meat.reshape(size, size) @ inverse * (count / (count - 1))
    return (covariance + covariance.T) / 2
