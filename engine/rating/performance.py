"""Performance: how strong each bot has been, with error bars, from all pair results at once.

Bradley-Terry by maximum likelihood (R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block
designs", 1952; ties count 1/2), with standard errors that know that the matches of a block belong
together (the cluster sandwich; K.-Y. Liang, S. L. Zeger, "Longitudinal data analysis using
generalized linear models", 1986). Spec "Error bars".

The only module of the engine that needs NumPy. Its floats may differ in their last bits between
machines, so they are shown and never added to a rating.
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

ANCHOR_ELO = 1500.0
ELO_PER_NAT = 400 / math.log(10)
Z_95 = 1.96
"""Standard errors to either side of an estimate in a 95 % interval."""

_MAX_STEPS = 100
_LAST_STEP = 1e-8

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


# -- What goes in ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tables:
    """Blocks with one number of bots, end to end: bots as indices, points by pair."""

    bots: "array[int]" = field(default_factory=lambda: array("q"))
    points: "array[float]" = field(default_factory=lambda: array("d"))
    matches: "array[float]" = field(default_factory=lambda: array("d"))


class PairResults:
    """The pair results of a ladder, block by block, ready to be fitted again after each round.

    Takes 8 bytes a bot, a pair and a block. A block can't be taken out again: after a correction,
    build a new one.
    """

    def __init__(self) -> None:
        self._index: dict[int, int] = {}
        self._tables: dict[int, _Tables] = {}

    def __len__(self) -> int:
        """Return the number of blocks."""
        return sum(len(tables.matches) for tables in self._tables.values())

    @property
    def bots(self) -> tuple[int, ...]:
        """The ids of the bots, in the order in which they first came."""
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
            shares: ``{(i, j): s_ij}``, mean pair results as `blocks.pair_results` gives them; of
                ``(i, j)`` and ``(j, i)`` one is enough.
            matches: how many they are the mean of.
            only: the bots whose current version sat at the table, if not all did. With fewer than
                two of these there is nothing to add.

        Raises:
            ValueError: a pair is missing, or a number is out of its range.
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
                raise ValueError(f"bots {quote(i)} and {quote(j)} have no result")
        self.extend([bots], [values], [matches])

    def extend(self, bots: npt.ArrayLike, shares: npt.ArrayLike, matches: npt.ArrayLike) -> None:
        """Add B blocks with n bots each.

        Args:
            bots: (B, n) ids, all different in a row.
            shares: (B, n (n-1) / 2) mean results of the pairs (0, 1), (0, 2), ..., (1, 2), ... of
                the places in the row of bots: 1 if the first always won.
            matches: (B,) how many each row of shares is the mean of.

        Raises:
            ValueError: shapes don't fit, a bot sits twice, or a number is out of its range.
        """
        ids, s, m = (np.asarray(bots), np.asarray(shares, float), np.asarray(matches, float))
        if ids.ndim != 2 or ids.shape[1] < 2 or ids.dtype.kind not in "iu":
            raise ValueError(f"bots need rows of two or more ids, not the shape {ids.shape}")
        rows, n = ids.shape
        if s.shape != (rows, n * (n - 1) // 2) or m.shape != (rows,):
            raise ValueError(f"shares {s.shape} and matches {m.shape} for bots {ids.shape}")
        in_order = np.sort(ids, axis=1)
        if (in_order[:, 1:] == in_order[:, :-1]).any():
            raise ValueError("a bot sits twice in a block")
        if not ((s >= 0) & (s <= 1)).all():
            raise ValueError("a share is not between 0 and 1")
        if not ((m > 0) & np.isfinite(m)).all():
            raise ValueError("a block has no matches")
        tables = self._tables.setdefault(n, _Tables())
        tables.bots.frombytes(self._indices(ids).tobytes())
        tables.points.frombytes((s * m[:, None]).tobytes())
        tables.matches.frombytes(m.tobytes())

    def _indices(self, ids: npt.NDArray[Any]) -> _Ints:
        values, inverse = np.unique(ids, return_inverse=True)
        index = self._index
        known = [index.setdefault(bot, len(index)) for bot in values.tolist()]
        return np.array(known, np.int64)[inverse].reshape(ids.shape)

    def _arrays(self) -> Iterator[tuple[_Ints, _Floats, _Floats]]:
        """Yield, for each size of table, (B, n) indices, (B, pairs) points, (B,) matches."""
        for n, tables in sorted(self._tables.items()):
            yield (
                np.array(tables.bots, np.int64).reshape(-1, n),
                np.array(tables.points, np.float64).reshape(-1, n * (n - 1) // 2),
                np.array(tables.matches, np.float64),
            )


# -- What comes out ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Performance:
    """A fitted ladder.

    Attributes:
        bots: ids, the best first; the arrays below are in this order.
        elo: estimates, on a scale where the anchor (without one, the mean) has 1500.
        errors: their standard errors, against the strength of the field as a whole: what the 95 %
            interval ``elo +- 1.96 error`` covers is the bot's strength less the field's mean. The
            anchor only says which number that scale begins with; a comparison of two bots, the
            anchor among them, is `difference`. Infinite while there are fewer than two blocks.
        bands: the rank band of each bot, from 1; see `rank_bands`.
        covariance: of the estimates, in Elo squared; its rows add up to 0.
        blocks: how many there were of each bot.
    """

    bots: tuple[int, ...]
    elo: _Floats
    errors: _Floats
    bands: tuple[int, ...]
    covariance: _Floats
    blocks: tuple[int, ...]

    def difference(self, bot: int, other: int) -> tuple[float, float]:
        """Return how much stronger a bot is than another, in Elo, and its standard error.

        Raises:
            ValueError: one of them has no results.
        """
        i, j = (_position(self.bots, known) for known in (bot, other))
        return float(self.elo[i] - self.elo[j]), _difference_error(self.covariance, i, j)


def fit(
    results: PairResults, *, anchor: int | None = None, virtual_draws: float = 3.0
) -> Performance:
    """Return the performance of every bot in these results.

    Each bot gets ``virtual_draws`` draws against the field, spread evenly over all other bots, so
    that a bot that won or lost everything has a finite estimate and no group of bots floats free
    of the others. They are no evidence: standard errors are made of blocks alone (H contains the
    draws, the sum over blocks does not).

    Time and memory grow with the square of the number of bots, time with the cube beyond some
    hundreds, and both in proportion to the results.

    Args:
        results: of current versions.
        anchor: the mid-strength house bot; None puts the mean of all bots at 1500.
        virtual_draws: above 0.

    Raises:
        ValueError: the anchor has no results, or there is no virtual draw.
    """
    if not virtual_draws > 0:
        raise ValueError(f"virtual draws must be above 0, not {quote(virtual_draws)}")
    ids = results.bots
    base = None if anchor is None else _position(ids, anchor)
    if not ids:
        nothing = np.zeros(0)
        return Performance((), nothing, nothing, (), np.zeros((0, 0)), ())
    groups = list(results._arrays())
    wins = _wins(groups, len(ids)) + virtual_draws / (len(ids) - 1) / 2 * (1 - np.eye(len(ids)))
    strengths, information = _maximize(wins)
    covariance = _sandwich(groups, strengths, information) * ELO_PER_NAT**2
    elo = ANCHOR_ELO + ELO_PER_NAT * (strengths - (0 if base is None else strengths[base]))
    blocks = np.zeros(len(ids), np.int64)
    for bots, _, _ in groups:
        blocks += np.bincount(bots.ravel(), minlength=len(ids))

    # Bots that come out equal stand by id, so that the order in which they came is no matter.
    order = np.lexsort((np.array(ids), -np.round(elo, 6)))
    elo, covariance = elo[order], covariance[np.ix_(order, order)]
    variances = np.diag(covariance)
    return Performance(
        bots=tuple(ids[i] for i in order.tolist()),
        elo=elo,
        # Of few blocks it may come out below zero by rounding: then nothing is known of it.
        errors=np.sqrt(np.where(variances < 0, np.nan, variances)),
        bands=rank_bands(elo, covariance),
        covariance=covariance,
        blocks=tuple(blocks[order].tolist()),
    )


def rank_bands(elo: npt.ArrayLike, covariance: npt.ArrayLike) -> tuple[int, ...]:
    """Return the rank band of each bot, from 1.

    "Not significantly different" is not transitive, so bands are cut from the top: a band begins
    with the best bot that is in none yet, and takes in the bots below it, one after another, up to
    the first whose difference to that best one is significant: the difference's 95 % interval,
    made with the covariance of the two, does not include 0. So no bot of a band can be told from
    its best, and every cut is a proven difference. Two bots on either side of a cut may still be
    too near to tell apart, and a bot of which little is known keeps its place by its estimate.

    Args:
        elo: descending.
        covariance: of these estimates, in this order.
    """
    estimates, v = np.asarray(elo, float), np.asarray(covariance, float)
    bands: list[int] = []
    best = 0
    for i, estimate in enumerate(estimates):
        if estimates[best] - estimate > Z_95 * _difference_error(v, best, i):
            best = i
            bands.append(bands[-1] + 1)
        else:
            bands.append(bands[-1] if bands else 1)
    return tuple(bands)


# -- In between --------------------------------------------------------------------------------


def _position(bots: Sequence[int], bot: int) -> int:
    try:
        return bots.index(bot)
    except ValueError:
        raise ValueError(f"bot {quote(bot)} has no results to fit") from None


def _difference_error(covariance: _Floats, i: int, j: int) -> float:
    if i == j:
        return 0.0
    if math.isinf(covariance[i, j]):  # Fewer than two blocks: nothing is known.
        return math.inf
    return math.sqrt(max(float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]), 0.0))


def _wins(groups: Sequence[tuple[_Ints, _Floats, _Floats]], size: int) -> _Floats:
    """Return the points that each bot (row) has made against each other bot (column)."""
    wins = np.zeros(size * size)
    for bots, points, matches in groups:
        for pair, (a, b) in enumerate(combinations(range(bots.shape[1]), 2)):
            i, j, won = bots[:, a], bots[:, b], points[:, pair]
            wins += np.bincount(i * size + j, won, minlength=size * size)
            wins += np.bincount(j * size + i, matches - won, minlength=size * size)
    return wins.reshape(size, size)


def _maximize(wins: _Floats) -> tuple[_Floats, _Floats]:
    """Return the most likely strengths in nats, mean 0, and the Fisher information there.

    Newton. The likelihood is concave, but a full step can overshoot, so a step that changes the
    differences between bots by more than D = 1 nat is shortened by ln(1 + D) / D, which never does
    (F. Bach, "Self-concordant analysis for logistic regression", 2010).
    """
    size = len(wins)
    matches = wins + wins.T
    # The odds of each bot against the field it met: a start that saves four of nine steps.
    strengths = np.log(wins.sum(axis=1) / wins.sum(axis=0))
    strengths -= strengths.mean()
    for _ in range(_MAX_STEPS):
        p = _expectation(strengths[:, None] - strengths)
        gradient = (wins - matches * p).sum(axis=1)
        information = _information(matches, p)
        # The rows add up to 0, as a constant added to all strengths changes nothing. With the
        # mean of all strengths held as well, there is one solution, and its mean is 0.
        step = np.linalg.solve(information + np.trace(information) / size**2, gradient)
        reach = float(np.ptp(step))
        strengths += step * (math.log1p(reach) / reach if reach > 1 else 1)
        strengths -= strengths.mean()
        if reach < _LAST_STEP:
            break
    return strengths, information


def _expectation(differences: _Floats) -> _Floats:
    # tanh does not overflow as exp would.
    return 0.5 + 0.5 * np.tanh(differences / 2)


def _information(matches: _Floats, p: _Floats) -> _Floats:
    between: _Floats = matches * p * p.T  # p_ij p_ji
    between *= -1
    np.fill_diagonal(between, 0)
    np.fill_diagonal(between, -between.sum(axis=1))
    return between


def _sandwich(
    groups: Sequence[tuple[_Ints, _Floats, _Floats]], strengths: _Floats, information: _Floats
) -> _Floats:
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
