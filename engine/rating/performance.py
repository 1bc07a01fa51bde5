"""Performance: the Bradley-Terry fit of a ladder, with error bars and rank bands.

The fit is the maximum likelihood of all pair results (R. A. Bradley, M. E. Terry, "Rank analysis of
incomplete block designs", 1952; a tie counts 1/2). The matches of a block depend on each other, so
the standard errors are cluster-robust, with blocks as clusters (K.-Y. Liang, S. L. Zeger,
"Longitudinal data analysis using generalized linear models", 1986). docs/ratings.md gives the
measured coverage of the intervals.

This module, `luck_correction` and `studentized_range` alone need NumPy. The last bits of their
floats may differ between machines, so pages show them, but no rating depends on them.
"""

import math
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import quote
from engine.rating.luck_correction import Group, LuckOfBlocks
from engine.rating.studentized_range import LEAST_FREEDOM, quantile

ANCHOR_ELO = 1500.0
ELO_PER_NAT = 400 / math.log(10)
_MAX_STEPS = 100
_LAST_STEP = 1e-8

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


# -- Pair results ------------------------------------------------------------------------------


@dataclass(slots=True)
class _BlockArrays:
    """All blocks with the same number of bots, in flat arrays.

    Attributes:
        bots: the indices of each block's bots, block after block.
        points: the points of each pair's first bot, block after block.
        matches: the number of matches of each block.
    """

    bots: "array[int]" = field(default_factory=lambda: array("q"))
    points: "array[float]" = field(default_factory=lambda: array("d"))
    matches: "array[float]" = field(default_factory=lambda: array("d"))


class PairResults:
    """The pair results of a ladder, block by block. Keep it, add each round's blocks, fit again.

    A block takes 8 bytes for each pair, 16 for each bot, and 8. You can't remove a block: after a
    correction, build a new object.
    """

    def __init__(self) -> None:
        self._index: dict[int, int] = {}
        self._arrays: dict[int, _BlockArrays] = {}
        self._luck = LuckOfBlocks()

    def __len__(self) -> int:
        """Return the number of blocks."""
        return sum(len(arrays.matches) for arrays in self._arrays.values())

    @property
    def bots(self) -> tuple[int, ...]:
        """The ids of the bots, in the order of their first block."""
        return tuple(self._index)

    def add(
        self,
        shares: Mapping[tuple[int, int], Fraction | float],
        *,
        matches: int,
        only: Collection[int] | None = None,
    ) -> None:
        """Add a block.

        Args:
            shares: ``{(i, j): s_ij}``, mean pair results as `blocks.pair_results` returns them. One
                of ``(i, j)`` and ``(j, i)`` is enough.
            matches: the number of matches that each share is the mean of.
            only: the bots to add, such as those that played with their current version; None adds
                all. The block is ignored if fewer than two are left.

        Raises:
            ValueError: a pair is missing, a share is not from 0 to 1, or ``matches`` is not above
                0.
        """
        table = {bot for pair in shares for bot in pair}
        bots = sorted(table if only is None else table.intersection(only))
        if len(bots) < 2:
            return
        values = []
        for i, j in combinations(bots, 2):
            if (i, j) in shares:
                values.append(float(shares[i, j]))
            elif (j, i) in shares:
                values.append(1 - float(shares[j, i]))
            else:
                raise ValueError(f"bots {quote(i)} and {quote(j)} have no pair result")
        self.extend([bots], [values], [matches])

    def extend(
        self,
        bots: npt.ArrayLike,
        shares: npt.ArrayLike,
        matches: npt.ArrayLike,
        luck: npt.ArrayLike | None = None,
    ) -> None:
        """Add B blocks with n bots each.

        Args:
            bots: shape (B, n), integer ids, all different in a row.
            shares: shape (B, n (n-1) / 2), the mean pair results of columns (0, 1), (0, 2), ...,
                (1, 2), ... of ``bots``; 1 if the first bot of the pair won all matches.
            matches: shape (B,), the number of matches that each row of shares is the mean of.
            luck: shape (B, n); see `LuckOfBlocks.add`.

        Raises:
            ValueError: shapes don't fit, a bot sits twice in a block, a share is not from 0 to 1,
                or a number of matches is not above 0.
        """
        ids, s, m = (np.asarray(bots), np.asarray(shares, float), np.asarray(matches, float))
        if ids.ndim != 2 or ids.shape[1] < 2 or ids.dtype.kind not in "iu":
            raise ValueError(
                f"bots must be rows of two or more integers, not {ids.dtype} of shape {ids.shape}"
            )
        rows, n = ids.shape
        if s.shape != (rows, n * (n - 1) // 2) or m.shape != (rows,):
            raise ValueError(
                f"shares {s.shape} and matches {m.shape} don't fit bots {ids.shape}: "
                f"they need the shapes {(rows, n * (n - 1) // 2)} and {(rows,)}"
            )
        in_order = np.sort(ids, axis=1)
        if (in_order[:, 1:] == in_order[:, :-1]).any():
            raise ValueError("a bot sits twice in a block")
        if not ((s >= 0) & (s <= 1)).all():
            raise ValueError("every share must be from 0 to 1")
        if not ((m > 0) & np.isfinite(m)).all():
            raise ValueError("every block needs at least one match")
        self._luck.add(ids.shape, luck)
        arrays = self._arrays.setdefault(n, _BlockArrays())
        arrays.bots.frombytes(self._indices(ids).tobytes())
        arrays.points.frombytes((s * m[:, None]).tobytes())
        arrays.matches.frombytes(m.tobytes())

    def _indices(self, ids: npt.NDArray[Any]) -> _Ints:
        values, inverse = np.unique(ids, return_inverse=True)
        index = self._index
        indices = [index.setdefault(bot, len(index)) for bot in values.tolist()]
        return np.array(indices, np.int64)[inverse].reshape(ids.shape)

    def _groups(self) -> Iterator[Group]:
        """Yield for each table size n: indices (B, n), points (B, pairs), matches (B,)."""
        for n, arrays in sorted(self._arrays.items()):
            yield (
                np.array(arrays.bots, np.int64).reshape(-1, n),
                np.array(arrays.points, np.float64).reshape(-1, n * (n - 1) // 2),
                np.array(arrays.matches, np.float64),
            )


# -- The fit -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Performance:
    """A fitted ladder.

    Attributes:
        bots: bot ids, the best first; the arrays below have this order, with N entries.
        elo: shape (N,), the estimates in Elo. The anchor has 1500; without an anchor, the mean has.
        errors: shape (N,), the standard errors in Elo. They belong to a bot's strength relative to
            the mean of the field: the 95 % interval is ``elo +- 1.96 * error``. To compare two
            bots, or a bot with the anchor, use `difference`. Infinite if there are fewer than two
            blocks.
        bands: the rank band of each bot, from 1; see `rank_bands`.
        covariance: shape (N, N), of the estimates, in Elo squared; its rows add up to 0.
        blocks: the number of blocks of each bot.
    """

    bots: tuple[int, ...]
    elo: _Floats
    errors: _Floats
    bands: tuple[int, ...]
    covariance: _Floats
    blocks: tuple[int, ...]

    def difference(self, bot: int, other: int) -> tuple[float, float]:
        """Return by how much a bot is stronger than another, and the standard error, in Elo.

        Raises:
            ValueError: one of the two has no results.
        """
        i, j = (_position(self.bots, either) for either in (bot, other))
        return float(self.elo[i] - self.elo[j]), _difference_error(self.covariance, i, j)


def fit(
    results: PairResults, *, anchor: int | None = None, virtual_draws: float = 3.0
) -> Performance:
    """Return the performance of each bot with results.

    Each bot gets ``virtual_draws`` draws against the field, spread evenly over all other bots. They
    give a finite estimate to a bot that won or lost all its matches, and connect groups of bots
    that never met. They are no evidence, so the block sum of the standard errors leaves them out;
    only the information matrix contains them.

    Memory grows with the square of the number of bots. Time grows with the square up to some
    hundreds of bots and with the cube beyond. Both grow in proportion to the results.

    Args:
        results: of current versions.
        anchor: the bot that has 1500 Elo; None gives 1500 to the mean of all bots.
        virtual_draws: above 0.

    Raises:
        ValueError: the anchor has no results, or ``virtual_draws`` is not above 0.
    """
    if not virtual_draws > 0:
        raise ValueError(f"virtual_draws must be above 0, not {quote(virtual_draws)}")
    ids = results.bots
    base = None if anchor is None else _position(ids, anchor)
    if not ids:
        empty = np.zeros(0)
        return Performance((), empty, empty, (), np.zeros((0, 0)), ())
    groups: Sequence[Group] = list(results._groups())
    wins = _wins(groups, len(ids)) + virtual_draws / (len(ids) - 1) / 2 * (1 - np.eye(len(ids)))
    strengths, information = _maximize(wins)
    groups, strengths = results._luck.take_off(groups, strengths, information)
    covariance = _sandwich(groups, strengths, information) * ELO_PER_NAT**2
    elo = ANCHOR_ELO + ELO_PER_NAT * (strengths - (0 if base is None else strengths[base]))
    blocks = np.zeros(len(ids), np.int64)
    for bots, _, _ in groups:
        blocks += np.bincount(bots.ravel(), minlength=len(ids))

    # Bots with equal estimates are sorted by id, so that the order of the results has no effect.
    order = np.lexsort((np.array(ids), -np.round(elo, 6)))
    elo, covariance = elo[order], covariance[np.ix_(order, order)]
    variances = np.diag(covariance)
    return Performance(
        bots=tuple(ids[i] for i in order.tolist()),
        elo=elo,
        # With few blocks rounding can make a variance negative: then the error is unknown.
        errors=np.sqrt(np.where(variances < 0, np.nan, variances)),
        bands=rank_bands(elo, covariance, blocks[order]),
        covariance=covariance,
        blocks=tuple(blocks[order].tolist()),
    )


def rank_bands(
    elo: npt.ArrayLike, covariance: npt.ArrayLike, blocks: npt.ArrayLike
) -> tuple[int, ...]:
    """Return the rank band of each bot, from 1.

    A band begins with the best bot that is in no band yet. It takes in the bots below, one after
    another, up to the first bot that differs significantly from the band's best bot: by more than
    the studentized range of N bots allows at 5 % (`studentized_range`). The best of many equal bots
    is far above the worst by chance alone, and this takes that into account: if all bots are
    equally strong, a table of 4 to 40 bots has any cut in at most 8 % of cases.

    So all bots of a band are statistically tied with its best bot. "Tied" is not transitive: two
    neighbours on either side of a cut may be tied too. A bot with a long error bar keeps the
    position of its estimate.

    Args:
        elo: shape (N,), descending, in Elo.
        covariance: shape (N, N), of these estimates, in Elo squared.
        blocks: shape (N,), the number of blocks of each bot. The standard error of a difference
            has one degree of freedom less than the fewer blocks of the two.
    """
    estimates, v = np.asarray(elo, float), np.asarray(covariance, float)
    freedom = np.maximum(np.asarray(blocks, float) - 1, LEAST_FREEDOM)
    bands: list[int] = []
    best = 0
    for i, estimate in enumerate(estimates):
        if i and estimates[best] - estimate > _significant(
            len(estimates), min(freedom[best], freedom[i]), _difference_error(v, best, i)
        ):
            best = i
            bands.append(bands[-1] + 1)
        else:
            bands.append(bands[-1] if bands else 1)
    return tuple(bands)


def _significant(bots: int, freedom: float, error: float) -> float:
    """Return the difference that is significant among so many bots, from its standard error.

    The studentized range is in units of the error of one value, which is that of a difference
    divided by the square root of 2.
    """
    return quantile(bots, freedom) / math.sqrt(2) * error


# -- Parts of the fit --------------------------------------------------------------------------


def _position(bots: Sequence[int], bot: int) -> int:
    try:
        return bots.index(bot)
    except ValueError:
        raise ValueError(f"bot {quote(bot)} has no results in this fit") from None


def _difference_error(covariance: _Floats, i: int, j: int) -> float:
    """Return the standard error of the difference of two estimates, in Elo."""
    if i == j:
        return 0.0
    if math.isinf(covariance[i, j]):  # There are fewer than two blocks.
        return math.inf
    return math.sqrt(max(float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]), 0.0))


def _wins(groups: Sequence[Group], size: int) -> _Floats:
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


def _sandwich(groups: Sequence[Group], strengths: _Floats, information: _Floats) -> _Floats:
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
