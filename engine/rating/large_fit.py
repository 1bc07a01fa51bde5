"""The fit of a large ladder: time and memory grow with bots and blocks, not with pairs of bots.

`performance.fit` uses it for more bots than a dense matrix is good for. The strengths are the same
maximum of the likelihood: Newton's method, each step solved by conjugate gradients (M. R. Hestenes,
E. Stiefel, 1952). The covariance is approximate; see `large_covariance`.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.rating.fit_input import Blocks
from engine.rating.large_covariance import GroupedCovariance
from engine.rating.large_field import Field

_Floats = npt.NDArray[np.float64]

_MAX_STEPS = 100
_PRECISION = 0.03
"""Of the solution of a step, relative. A smaller one saves as much time as it costs."""
_LAST_ERROR = 1e-7
"""In nats: 2e-5 Elo. Newton's method ends when its next step would be smaller."""


def fit_large(
    groups: Sequence[Blocks], size: int, virtual_draws: float, unit: float
) -> tuple[_Floats, GroupedCovariance]:
    """Return the most likely strengths in nats, with mean 0, and their covariance.

    Args:
        groups: all blocks.
        size: the number of bots, 2 or more.
        virtual_draws: of each bot.
        unit: of the covariance, in nats.
    """
    field = Field(groups, size, virtual_draws)
    strengths = field.start(virtual_draws)
    gradient = field.gradient(strengths)
    for _ in range(_MAX_STEPS):
        step = field.solve(gradient, _PRECISION)
        reach = float(np.ptp(step))
        if reach * max(reach, _PRECISION) < _LAST_ERROR:
            strengths += step
            break
        gradient = field.gradient(strengths + step)
        if reach > 1 and gradient @ step < 0:
            # The full step overshot; a damped one never does, see `performance._maximize`.
            step *= math.log1p(reach) / reach
            gradient = field.gradient(strengths + step)
        strengths += step
    return strengths, GroupedCovariance(field, strengths, unit)
