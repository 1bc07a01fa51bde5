"""Pair results of a ladder, block by block, in flat arrays: the input of a performance fit."""

from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.errors import quote

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


class Blocks(NamedTuple):
    """All blocks with the same number of bots, n.

    Attributes:
        bots: the positions of each block's bots in `PairResults.bots`, shape (B, n).
        points: the points of the first bot of each pair (0, 1), (0, 2), ..., (1, 2), ..., shape
            (B, n (n-1) / 2).
        matches: shape (B,).
    """

    bots: _Ints
    points: _Floats
    matches: _Floats


@dataclass(slots=True)
class _BlockArrays:
    """All blocks with the same number of bots, in flat arrays.

    Attributes:
        bots: the indices of each block's bots, block after block.
        points: the points of each pair's first bot, block after block.
        matches: the number of matches of each block.
        luck: the luck of each block's bots, block after block.
    """

    bots: "array[int]" = field(default_factory=lambda: array("q"))
    points: "array[float]" = field(default_factory=lambda: array("d"))
    matches: "array[float]" = field(default_factory=lambda: array("d"))
    luck: "array[float]" = field(default_factory=lambda: array("d"))


class PairResults:
    """The pair results of a ladder, block by block. Keep it, add each round's blocks, fit again.

    A block takes 8 bytes for each pair, 16 for each bot, and 8. You can't remove a block: after a
    correction, build a new object.

    Attributes:
        has_luck: whether any bot had luck with the cards that is to be taken off.
    """

    def __init__(self) -> None:
        self.has_luck = False
        self._index: dict[int, int] = {}
        self._arrays: dict[int, _BlockArrays] = {}

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
            luck: shape (B, n), each bot's luck, added up over the matches of the block, in win
                share; None if it is not measured or all matches have one deal.

        Raises:
            ValueError: shapes don't fit, a bot sits twice in a block, a share is not from 0 to 1,
                a number of matches is not above 0, or a luck is not finite.
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
        sums = np.zeros(ids.shape) if luck is None else np.asarray(luck, float)
        if sums.shape != ids.shape or not np.isfinite(sums).all():
            raise ValueError(
                f"luck must be finite numbers of the shape {ids.shape}, not {sums.shape}"
            )
        self.has_luck |= bool(sums.any())
        arrays = self._arrays.setdefault(n, _BlockArrays())
        arrays.luck.frombytes(sums.tobytes())
        arrays.bots.frombytes(self._indices(ids).tobytes())
        arrays.points.frombytes((s * m[:, None]).tobytes())
        arrays.matches.frombytes(m.tobytes())

    def groups(self) -> Iterator[Blocks]:
        """Yield the blocks of each number of bots.

        The arrays are views: nothing can be added as long as you keep one of them.
        """
        for n, arrays in sorted(self._arrays.items()):
            yield Blocks(
                np.frombuffer(arrays.bots, np.int64).reshape(-1, n),
                np.frombuffer(arrays.points, np.float64).reshape(-1, n * (n - 1) // 2),
                np.frombuffer(arrays.matches, np.float64),
            )

    def luck(self) -> Iterator[_Floats]:
        """Yield the luck of each block's bots, (B, n), for each of the `groups`; views as there."""
        for n, arrays in sorted(self._arrays.items()):
            yield np.frombuffer(arrays.luck, np.float64).reshape(-1, n)

    def _indices(self, ids: npt.NDArray[Any]) -> _Ints:
        if not ids.size:
            return np.zeros(ids.shape, np.int64)
        index = self._index
        low, high = int(ids.min()), int(ids.max())
        if high - low > 4 * ids.size:
            values, inverse = np.unique(ids, return_inverse=True)
            indices = [index.setdefault(bot, len(index)) for bot in values.tolist()]
            return np.array(indices, np.int64)[inverse].reshape(ids.shape)
        # A table by id: a tenth of the time of sorting millions of ids.
        at = (ids - low).astype(np.int64)
        table = np.full(high - low + 1, -1, np.int64)
        table[at] = 0
        present = np.flatnonzero(table == 0)
        table[present] = [index.setdefault(low + bot, len(index)) for bot in present.tolist()]
        return table[at]
