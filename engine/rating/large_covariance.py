"""The covariance of a large ladder's estimates, without a matrix of all pairs of bots.

The covariance H+ M H+ of the strengths needs the inverse of the information matrix H. Here it is
approximated by one Jacobi step and one exact correction of what groups of bots have in common:

    H+ ~ 1/D + P (P' H P)+ P' W / D        H = D - W, D the diagonal, P a group for each bot

(a two-level method: A. Brandt, S. McCormick, J. Ruge, "Algebraic multigrid for sparse matrix
equations", 1984). Bots of one group are alike in strength and in the time of their first block.
docs/ratings-statistics.md gives the measured error of the standard errors.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.rating.large_field import Field

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]

_STRENGTH_STRATA, _TIME_STRATA = 128, 8
"""Groups of bots: layers of strength, and parts of a layer by the time of the first block."""

_WALKS, _ALONE_CHANCE, _MAX_ALONE = 4, 0.02, 256
"""See `_alone`."""


class GroupedCovariance:
    """The covariance of a large fit, in parts; see the module's docstring.

    An estimate's influence is its row of H+, u_i = (e_i - 1/N) / D + P c_i. The covariance of two
    estimates is u_i' M u_j, where M is the sum of g g' over the blocks.
    """

    def __init__(self, field: Field, strengths: _Floats, unit: float) -> None:
        """Compute the parts.

        Args:
            field: with the weights at these strengths, or nearly these.
            strengths: in nats.
            unit: of the covariance, in nats.
        """
        self._bots = [table.bots for table in field.tables]
        self._surpluses = field.surpluses(strengths)
        self._size = field.size
        self._diagonal = field.diagonal
        blocks = sum(bots.shape[1] for bots in self._bots)
        self._factor = blocks / (blocks - 1) / unit**2
        groups = _groups_of(strengths, _alone(field))
        count = int(groups.max()) + 1
        between = field.weights_by_group(groups, count)
        coarse = -_sum_rows(between, groups, count)
        coarse[np.diag_indices(count)] += np.bincount(groups, self._diagonal, minlength=count)
        # The inverse on vectors with sum 0, as in `performance._sandwich`; the rest cancels.
        coarse += float(np.trace(coarse)) / count**2
        shares = np.linalg.solve(coarse, between.T / self._diagonal)
        shares -= shares.mean(axis=1, keepdims=True)
        self._shares: _Floats = np.ascontiguousarray(shares.T)
        self._meat = self._meat_by_group(groups, count)
        self._coarse_meat = _sum_rows(self._meat, groups, count)
        mean = self._meat_times(1 / self._diagonal / self._size)
        self._with_mean = mean / self._diagonal + self._shares @ np.bincount(
            groups, mean, minlength=count
        )
        self._of_mean = float(mean @ (1 / self._diagonal)) / self._size
        self._variances = self._all_variances()

    def variances(self) -> _Floats:
        """Return the diagonal, shape (N,)."""
        return self._variances

    def row(self, position: int) -> _Floats:
        """Return the covariances of one estimate with all, shape (N,)."""
        share = self._shares[position]
        row = np.zeros(self._size)
        for bots, surplus in zip(self._bots, self._surpluses, strict=True):
            for seat, of_seat in enumerate(bots):
                held = np.flatnonzero(of_seat == position)
                product = surplus[:, held] * surplus[seat, held]
                row += np.bincount(bots[:, held].ravel(), product.ravel(), minlength=self._size)
        row /= self._diagonal * self._diagonal[position]
        row += self._meat @ share / self._diagonal
        row += self._shares @ (
            self._meat[position] / self._diagonal[position] + self._coarse_meat @ share
        )
        row += self._of_mean - self._with_mean - self._with_mean[position]
        row *= self._factor
        return row

    def among(self, positions: Sequence[int] | _Ints) -> _Floats:
        """Return the covariance matrix of some estimates, in the order of their positions."""
        at = np.asarray(positions, np.int64)
        local = np.full(self._size, -1)
        local[at] = np.arange(len(at))
        inner = np.zeros(len(at) ** 2)
        for bots, surplus in zip(self._bots, self._surpluses, strict=True):
            cells = local[bots]
            for a in range(len(bots)):
                for b in range(len(bots)):
                    both = (cells[a] >= 0) & (cells[b] >= 0)
                    cell = cells[a, both] * len(at) + cells[b, both]
                    product = surplus[a, both] * surplus[b, both]
                    inner += np.bincount(cell, product, minlength=len(inner))
        diagonal, shares = self._diagonal[at], self._shares[at]
        mixed = self._meat[at] @ shares.T / diagonal[:, None]
        part = inner.reshape(len(at), len(at)) / diagonal / diagonal[:, None]
        part += mixed + mixed.T + shares @ self._coarse_meat @ shares.T
        part += self._of_mean - self._with_mean[at] - self._with_mean[at][:, None]
        part *= self._factor
        return part

    def _all_variances(self) -> _Floats:
        total = np.zeros(self._size)
        for bots, surplus in zip(self._bots, self._surpluses, strict=True):
            for seat, of_seat in enumerate(bots):
                total += np.bincount(of_seat, surplus[seat] ** 2, minlength=self._size)
        total /= self._diagonal**2
        total += 2 / self._diagonal * np.einsum("ij,ij->i", self._meat, self._shares)
        total += np.einsum("ij,ij->i", self._shares @ self._coarse_meat, self._shares)
        total += self._of_mean - 2 * self._with_mean
        total *= self._factor
        return total

    def _meat_times(self, values: _Floats) -> _Floats:
        """Return M times a vector."""
        result = np.zeros(self._size)
        for bots, surplus in zip(self._bots, self._surpluses, strict=True):
            of_blocks = np.einsum("ij,ij->j", surplus, values[bots])
            for seat, of_seat in enumerate(bots):
                result += np.bincount(of_seat, surplus[seat] * of_blocks, minlength=self._size)
        return result

    def _meat_by_group(self, groups: _Ints, count: int) -> _Floats:
        """Return M P, shape (N, groups)."""
        total = np.zeros(self._size * count)
        for bots, surplus in zip(self._bots, self._surpluses, strict=True):
            in_groups = groups[bots]
            for a in range(len(bots)):
                for b in range(len(bots)):
                    cell = bots[a] * count + in_groups[b]
                    total += np.bincount(cell, surplus[a] * surplus[b], minlength=len(total))
        return total.reshape(self._size, count)


def _alone(field: Field) -> _Ints:
    """Return the bots that play in small circles, shape (A,): each is its own group.

    Two random walks from a bot, of two steps from opponent to opponent, end at the same bot with a
    chance of 1/m if m bots play among themselves only. Random signs estimate this chance for all
    bots at once (M. F. Hutchinson, 1990).
    """
    rng = np.random.default_rng(0)
    chance = np.zeros(field.size)
    for _ in range(_WALKS):
        signs = rng.choice((-1.0, 1.0), field.size)
        for _ in range(2):
            signs -= field.information_times(signs) / field.diagonal
        chance += signs**2 / _WALKS
    most = np.argsort(-chance, kind="stable")[:_MAX_ALONE]
    return most[chance[most] > _ALONE_CHANCE]


def _groups_of(strengths: _Floats, alone: _Ints) -> _Ints:
    """Return a group for each bot: layers of strength, divided by the order of first blocks.

    A layer is narrow where bots are many and where they are few: the strongest and the weakest bots
    are mostly alone.
    """
    size = len(strengths)
    ranks = np.empty(size)
    ranks[np.argsort(strengths, kind="stable")] = np.arange(size) / size
    along = (strengths - strengths.min()) / max(float(np.ptp(strengths)), 1e-9)
    layers = np.floor((ranks + along) / 2 * _STRENGTH_STRATA).astype(np.int64)
    order = np.argsort(layers, kind="stable")
    in_layer = np.bincount(layers)
    first = np.cumsum(in_layer) - in_layer
    number = np.empty(size, np.int64)
    number[order] = np.arange(size) - first[layers[order]]
    group = layers * _TIME_STRATA + number * _TIME_STRATA // in_layer[layers]
    group[alone] = -1 - np.arange(len(alone))
    return np.unique(group, return_inverse=True)[1]


def _sum_rows(values: _Floats, groups: _Ints, count: int) -> _Floats:
    """Return the sums of the rows of each group, shape (groups, columns)."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(count))
    total: _Floats = np.add.reduceat(values[order], starts, axis=0)
    return total
