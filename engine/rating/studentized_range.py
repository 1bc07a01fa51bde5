"""Quantiles of the studentized range (Tukey), for comparing many bots at once.

The studentized range of k independent normal values is their range, divided by an independent
estimate of their standard deviation with so many degrees of freedom (J. W. Tukey, "The problem of
multiple comparisons", 1953). Its distribution is a double integral, computed here by Gauss-Legendre
quadrature (R. E. Lund, J. R. Lund, "Algorithm AS 190", 1983).
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

LEAST_FREEDOM = 4
_LARGE = 2000
"""From so many degrees of freedom on, the standard deviation counts as known."""
_REACH = 8.5
"""The normal distribution beyond so many standard deviations is left out: less than 1e-16."""
_POINTS = 120
_GRID = np.linspace(-2 * _REACH, 2 * _REACH, 1 << 15)
_NORMAL = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in _GRID.tolist()])
"""The normal distribution function on the grid. NumPy has none; linear steps err by 3e-8."""


@lru_cache(maxsize=4096)
def quantile(count: int, freedom: float, probability: float = 0.95) -> float:
    """Return the value that the studentized range exceeds with one minus a probability.

    The relative error is below 1e-4.

    Args:
        count: the number of values, at least 2.
        freedom: degrees of freedom of the standard deviation, at least 4; may be infinite.
        probability: from 0.5 to 0.99.

    Raises:
        ValueError: an argument is not allowed.
    """
    if count < 2 or freedom < LEAST_FREEDOM or not 0.5 <= probability <= 0.99:
        raise ValueError(
            f"{count} values, {freedom} degrees of freedom, probability {probability}: there must "
            f"be at least 2 values and at least {LEAST_FREEDOM} degrees of freedom, and the "
            "probability must be from 0.5 to 0.99"
        )
    low, high = 0.0, 2.0
    while _distribution(high, count, freedom) < probability:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if _distribution(middle, count, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _distribution(x: float, count: int, freedom: float) -> float:
    """Return the probability that the studentized range is at most x."""
    if freedom >= _LARGE:
        return float(_range_distribution(np.array([x]), count)[0])
    scales, weights = _scales(freedom)
    return float(weights @ _range_distribution(x * scales, count))


def _range_distribution(widths: _Floats, count: int) -> _Floats:
    """Return the probability that the range of standard normal values is at most each width.

    The density is that the lowest value is at z and the others are within the width above it.
    """
    nodes, weights = _nodes(-_REACH, _REACH)
    density = np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
    within = np.interp(nodes + widths[:, None], _GRID, _NORMAL) - np.interp(nodes, _GRID, _NORMAL)
    probabilities: _Floats = count * (np.maximum(within, 0) ** (count - 1)) @ (weights * density)
    return probabilities


@lru_cache(maxsize=4096)
def _scales(freedom: float) -> tuple[_Floats, _Floats]:
    """Return points and weights for the distribution of s / sigma, a scaled chi distribution."""
    spread = 6 / math.sqrt(2 * freedom)
    nodes, weights = _nodes(max(1e-6, 1 - spread), 1 + max(spread, 6 / freedom + spread))
    log_density = (
        math.log(2)
        + freedom / 2 * math.log(freedom / 2)
        - math.lgamma(freedom / 2)
        + (freedom - 1) * np.log(nodes)
        - freedom / 2 * nodes**2
    )
    weights = weights * np.exp(log_density)
    return nodes, weights / weights.sum()


def _nodes(low: float, high: float) -> tuple[_Floats, _Floats]:
    """Return the points and weights of a Gauss-Legendre quadrature."""
    nodes, weights = _legendre()
    half = (high - low) / 2
    return low + half * (nodes + 1), half * weights


@lru_cache(maxsize=1)
def _legendre() -> tuple[_Floats, _Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    return nodes, weights
