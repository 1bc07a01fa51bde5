"""Performance without the luck of the cards: what `luck` found, taken off the pair results.

The correction of a pair with luck L_i and L_j is 4 p (1 - p) (L_i - L_j), where p is the expected
pair result by the fit without correction: luck decides less if one bot is much stronger. The
estimates then move by one step of Newton's method, which is as precise as a new fit (E. L. Lehmann,
G. Casella, "Theory of Point Estimation", 1998, section 6.4) and always finite.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from engine.rating.fit_input import Blocks

_Floats = npt.NDArray[np.float64]


def take_off_luck(
    groups: Sequence[Blocks], luck: Sequence[_Floats], strengths: _Floats, information: _Floats
) -> tuple[list[Blocks], _Floats]:
    """Return the groups with corrected points, and the strengths that fit them.

    Args:
        groups: all blocks, by number of bots.
        luck: of each group, each bot's luck, added up over the matches of its block, in win share.
        strengths: shape (N,), in nats, fitted to the groups.
        information: shape (N, N), the Fisher information there.
    """
    taken = np.zeros(len(strengths))
    corrected: list[Blocks] = []
    for group, of_group in zip(groups, luck, strict=True):
        left = group.points.copy()
        for pair, (a, b) in enumerate(combinations(range(group.bots.shape[1]), 2)):
            i, j = group.bots[:, a], group.bots[:, b]
            # 4 p (1 - p) = 1 - tanh(x / 2)²
            scale = 1 - np.tanh((strengths[i] - strengths[j]) / 2) ** 2
            off = scale * (of_group[:, a] - of_group[:, b])
            left[:, pair] -= off
            taken += np.bincount(i, off, len(taken)) - np.bincount(j, off, len(taken))
        corrected.append(group._replace(points=left))
    # The trace fixes the mean of the strengths, as in the fit.
    held = information + np.trace(information) / len(taken) ** 2
    return corrected, strengths - np.linalg.solve(held, taken)
