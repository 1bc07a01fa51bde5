"""Products with the likelihood's derivatives for a large ladder, block by block.

Time and memory grow with bots and blocks, not with pairs of bots.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from engine.rating.fit_input import Blocks

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]

_CHUNK = 1 << 15
"""Blocks computed at a time, so that intermediate values stay in the processor's cache."""

_MAX_SOLVE_STEPS = 300


@dataclass(frozen=True, slots=True)
class Tables:
    """The blocks of one number of bots, one row for each seat or pair, one column for each block.

    Attributes:
        bots: shape (n, B).
        points: shape (pairs, B), of the first bot of each pair.
        matches: shape (B,).
        pairs: the seats of each pair.
        weights: shape (pairs, B), matches times p (1 - p); see `Field.gradient`.
    """

    bots: _Ints
    points: _Floats
    matches: _Floats
    pairs: tuple[tuple[int, int], ...]
    weights: _Floats

    def chunks(self) -> list[slice]:
        """Return the columns of each `_CHUNK` of blocks."""
        return [slice(at, at + _CHUNK) for at in range(0, len(self.matches), _CHUNK)]


def _tables(blocks: Blocks) -> Tables:
    points = np.ascontiguousarray(blocks.points.T)
    pairs = tuple(combinations(range(blocks.bots.shape[1]), 2))
    bots = np.ascontiguousarray(blocks.bots.T)
    return Tables(bots, points, blocks.matches.copy(), pairs, np.empty_like(points))


class Field:
    """All bots and blocks, with the weights of the information matrix at some strengths.

    Attributes:
        size: the number of bots.
        tables: the blocks, by number of bots.
        diagonal: of the information matrix, shape (N,); set by `gradient`.
    """

    def __init__(self, groups: Sequence[Blocks], size: int, virtual_draws: float) -> None:
        self.size = size
        self.tables = [_tables(blocks) for blocks in groups]
        self.diagonal: _Floats = np.zeros(size)
        self._draws = _VirtualDraws(size, virtual_draws)

    def start(self, virtual_draws: float) -> _Floats:
        """Return the logarithm of each bot's odds against its opponents, less the mean."""
        won, played = np.full((2, self.size), virtual_draws / 2)
        played += virtual_draws / 2
        for table in self.tables:
            points = np.zeros(table.bots.shape)
            for pair, (a, b) in enumerate(table.pairs):
                points[a] += table.points[pair]
                points[b] += table.matches - table.points[pair]
            for seat, bots in enumerate(table.bots):
                won += np.bincount(bots, points[seat], minlength=self.size)
                played += np.bincount(
                    bots, table.matches * (len(table.bots) - 1), minlength=self.size
                )
        strengths: _Floats = np.log(won / (played - won))
        strengths -= strengths.mean()
        return strengths

    def gradient(self, strengths: _Floats) -> _Floats:
        """Return the gradient of the log-likelihood; set the weights to these strengths."""
        gradient, diagonal = self._draws.gradient(strengths)
        for table in self.tables:
            for chunk in table.chunks():
                bots, matches = table.bots[:, chunk], table.matches[chunk]
                of_bots = strengths[bots]
                surplus, weights = np.zeros((2, *bots.shape))
                for pair, (a, b) in enumerate(table.pairs):
                    p = 0.5 + 0.5 * np.tanh((of_bots[a] - of_bots[b]) / 2)
                    expected = matches * p
                    weight = expected * (1 - p)
                    expected -= table.points[pair, chunk]
                    surplus[a] -= expected
                    surplus[b] += expected
                    weights[a] += weight
                    weights[b] += weight
                    table.weights[pair, chunk] = weight
                gradient += self._sum(bots, surplus)
                diagonal += self._sum(bots, weights)
        self.diagonal = diagonal
        return gradient

    def surpluses(self, strengths: _Floats) -> list[_Floats]:
        """Return the gradient of each block, shape (n, B) for each number of bots."""
        found = []
        for table in self.tables:
            surplus = np.zeros(table.bots.shape)
            for chunk in table.chunks():
                of_bots = strengths[table.bots[:, chunk]]
                for pair, (a, b) in enumerate(table.pairs):
                    p = 0.5 + 0.5 * np.tanh((of_bots[a] - of_bots[b]) / 2)
                    more = table.points[pair, chunk] - table.matches[chunk] * p
                    surplus[a, chunk] += more
                    surplus[b, chunk] -= more
            found.append(surplus)
        return found

    def information_times(self, values: _Floats) -> _Floats:
        """Return the information matrix times a vector."""
        result = self._draws.information_times(values)
        for table in self.tables:
            for chunk in table.chunks():
                bots = table.bots[:, chunk]
                of_bots = values[bots]
                product = np.zeros(bots.shape)
                for pair, (a, b) in enumerate(table.pairs):
                    part = of_bots[a] - of_bots[b]
                    part *= table.weights[pair, chunk]
                    product[a] += part
                    product[b] -= part
                result += self._sum(bots, product)
        return result

    def weights_by_group(self, groups: _Ints, count: int) -> _Floats:
        """Return W P: the weight of each bot with each group of bots, shape (N, groups)."""
        total = np.zeros(self.size * count)
        for table in self.tables:
            in_groups = groups[table.bots]
            for pair, (a, b) in enumerate(table.pairs):
                for one, other in ((a, b), (b, a)):
                    cell = table.bots[one] * count + in_groups[other]
                    total += np.bincount(cell, table.weights[pair], minlength=len(total))
        return total.reshape(self.size, count) + self._draws.weights_by_group(groups, count)

    def solve(self, right: _Floats, precision: float) -> _Floats:
        """Return the solution with mean 0, to a relative precision, by conjugate gradients."""
        solution = np.zeros(self.size)
        residual = right - right.mean()
        scaled = residual / self.diagonal
        direction = scaled.copy()
        norm = float(residual @ scaled)
        target = norm * precision**2
        for _ in range(_MAX_SOLVE_STEPS):
            if norm <= target or norm == 0:
                break
            product = self.information_times(direction)
            length = norm / float(direction @ product)
            solution += length * direction
            residual -= length * product
            scaled = residual / self.diagonal
            norm, before = float(residual @ scaled), norm
            direction = scaled + norm / before * direction
        solution -= solution.mean()
        return solution

    def _sum(self, bots: _Ints, values: _Floats) -> _Floats:
        return sums(bots.ravel(), values.ravel(), self.size)


class _VirtualDraws:
    """Draws of each bot against all others: N (N-1) / 2 pairs, by interpolation in strength.

    A sum over all pairs of a smooth function of two strengths is a product of small matrices, if
    the function is interpolated at Chebyshev nodes. The error is about 1e-12 of the function.
    """

    def __init__(self, size: int, virtual_draws: float) -> None:
        self._each = virtual_draws / (size - 1)
        self._basis: _Floats = np.zeros((size, 1))
        self._slope: _Floats = np.zeros((1, 1))
        self._diagonal: _Floats = np.zeros(size)

    def gradient(self, strengths: _Floats) -> tuple[_Floats, _Floats]:
        """Return the gradient and the diagonal of the information; keep these strengths."""
        middle = (strengths.max() + strengths.min()) / 2
        half = max(float(np.ptp(strengths)) / 2, 0.5)
        # The logistic function has its poles pi away from the real axis; the error falls with the
        # size of the ellipse between them (L. N. Trefethen, "Approximation theory and approximation
        # practice", 2013, chapter 8).
        ellipse = math.pi / half + math.hypot(1, math.pi / half)
        count = math.ceil(math.log(1e13) / math.log(ellipse)) + 1
        nodes = np.cos(math.pi * (np.arange(count) + 0.5) / count)
        to_coefficients = 2 / count * np.polynomial.chebyshev.chebvander(nodes, count - 1).T
        to_coefficients[0] /= 2
        self._basis = np.polynomial.chebyshev.chebvander((strengths - middle) / half, count - 1)
        above = np.tanh(half * (nodes[:, None] - nodes) / 2) / 2
        all_bots = self._basis.sum(axis=0)
        expected = to_coefficients @ above @ to_coefficients.T
        self._slope = self._each * to_coefficients @ (0.25 - above**2) @ to_coefficients.T
        self._diagonal = self._basis @ (self._slope @ all_bots)
        return -self._each * (self._basis @ (expected @ all_bots)), self._diagonal.copy()

    def information_times(self, values: _Floats) -> _Floats:
        between: _Floats = self._basis @ (self._slope @ (values @ self._basis))
        return self._diagonal * values - between

    def weights_by_group(self, groups: _Ints, count: int) -> _Floats:
        of_groups = np.zeros((count, self._basis.shape[1]))
        np.add.at(of_groups, groups, self._basis)
        weights: _Floats = self._basis @ (self._slope @ of_groups.T)
        return weights


def sums(cells: _Ints, values: _Floats, size: int) -> _Floats:
    """Return the sum of the values of each cell, shape (size,)."""
    total: _Floats = np.asarray(np.bincount(cells, values, minlength=size), float)
    return total
