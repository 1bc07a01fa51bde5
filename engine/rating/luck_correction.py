"""Performance without the luck of the cards: what `luck` found, taken off the pair results.

The correction of a pair with luck L_i and L_j is 4 p (1 - p) (L_i - L_j), where p is the expected
pair result by the fit without correction: luck decides less if one bot is much stronger. The
estimates then move by one step of Newton's method, which is as precise as a new fit (E. L. Lehmann,
G. Casella, "Theory of Point Estimation", 1998, section 6.4) and always finite.
"""

from array import array
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
Group = tuple[_Ints, _Floats, _Floats]
"""Blocks of n bots: indices (B, n), points (B, pairs) of each pair's first bot, matches (B,)."""


class LuckOfBlocks:
    """The luck of each bot in each block, in the order in which the blocks were added."""

    def __init__(self) -> None:
        self._sums: dict[int, array[float]] = {}
        self._any = False

    def add(self, shape: tuple[int, ...], luck: npt.ArrayLike | None) -> None:
        """Add B blocks with n bots each.

        Args:
            shape: B and n.
            luck: shape (B, n), each bot's luck, added up over the matches of the block, in win
                share; None if it is not measured or all matches have one deal.

        Raises:
            ValueError: the shapes differ, or a luck is not finite.
        """
        sums = np.zeros(shape) if luck is None else np.asarray(luck, float)
        if sums.shape != shape or not np.isfinite(sums).all():
            raise ValueError(f"luck must be finite numbers of the shape {shape}, not {sums.shape}")
        self._any |= bool(sums.any())
        self._sums.setdefault(shape[1], array("d")).frombytes(sums.tobytes())

    def take_off(
        self, groups: Sequence[Group], strengths: _Floats, information: _Floats
    ) -> tuple[Sequence[Group], _Floats]:
        """Return the groups with corrected points, and the strengths that fit them.

        Args:
            groups: all blocks, the smallest tables first.
            strengths: shape (N,), in nats, fitted to the groups.
            information: shape (N, N), the Fisher information there.
        """
        if not self._any:
            return groups, strengths
        taken = np.zeros(len(strengths))
        corrected: list[Group] = []
        for bots, points, matches in groups:
            n = bots.shape[1]
            luck = np.array(self._sums[n], np.float64).reshape(-1, n)
            left = points.copy()
            for pair, (a, b) in enumerate(combinations(range(n), 2)):
                i, j = bots[:, a], bots[:, b]
                # 4 p (1 - p) = 1 - tanh(x / 2)²
                scale = 1 - np.tanh((strengths[i] - strengths[j]) / 2) ** 2
                off = scale * (luck[:, a] - luck[:, b])
                left[:, pair] -= off
                taken += np.bincount(i, off, len(taken)) - np.bincount(j, off, len(taken))
            corrected.append((bots, left, matches))
        # The trace fixes the mean of the strengths, as in the fit.
        held = information + np.trace(information) / len(taken) ** 2
        return corrected, strengths - np.linalg.solve(held, taken)
