"""Rank bands: groups of bots that the results do not tell from the best bot of the group."""

import math

import numpy as np
import numpy.typing as npt

from engine.rating.covariance import Covariance, as_covariance
from engine.rating.studentized_range import LEAST_FREEDOM, quantile

_Floats = npt.NDArray[np.float64]


def rank_bands(
    elo: npt.ArrayLike, covariance: Covariance | npt.ArrayLike, blocks: npt.ArrayLike
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
        covariance: of these estimates, in Elo squared; an array has the shape (N, N).
        blocks: shape (N,), the number of blocks of each bot. The standard error of a difference
            has one degree of freedom less than the fewer blocks of the two.
    """
    estimates, counts = np.asarray(elo, float), np.asarray(blocks, float)
    joint = as_covariance(covariance)
    freedom = np.maximum(counts - 1, LEAST_FREEDOM)
    bands = np.ones(len(estimates), np.int64)
    best: int | None = 0 if len(estimates) > 1 else None
    while best is not None:
        best = _next_cut(estimates, joint, freedom, best)
        if best is not None:
            bands[best:] += 1
    return tuple(bands.tolist())


def _next_cut(
    estimates: _Floats, covariance: Covariance, freedom: _Floats, best: int
) -> int | None:
    """Return the first bot below a band's best bot that is significantly worse than it."""
    gaps = estimates[best] - estimates
    allowed = difference_errors(covariance, best) / math.sqrt(2)
    # The quantile falls with the degrees of freedom: most bots are within the least of all.
    least = quantile(len(estimates), math.inf)
    for at in np.flatnonzero(gaps[best + 1 :] > least * allowed[best + 1 :]) + best + 1:
        known = min(freedom[best], freedom[at])
        # The studentized range is in units of the error of one value, which is that of a
        # difference divided by the square root of 2.
        if gaps[at] > quantile(len(estimates), float(known)) * allowed[at]:
            return int(at)
    return None


def difference_errors(covariance: Covariance, position: int) -> _Floats:
    """Return the standard errors of the differences of one estimate from all, in Elo."""
    variances = covariance.variances()
    row = covariance.row(position)
    if np.isinf(row).any():  # There are fewer than two blocks.
        return np.where(np.arange(len(row)) == position, 0, math.inf)
    errors: _Floats = np.sqrt(np.maximum(variances + variances[position] - 2 * row, 0))
    return errors
