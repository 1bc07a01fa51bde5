"""Student's t distribution: its upper tail and its quantiles, with the standard library alone."""

import math


def upper_tail(t: float, degrees: float) -> float:
    """Return the probability that Student's t is above ``t``.

    Source: M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.1.

    Args:
        t: any value.
        degrees: degrees of freedom, above 0.
    """
    tail = _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
    return tail if t >= 0 else 1 - tail


def upper_quantile(tail: float, degrees: float) -> float:
    """Return the t that Student's t exceeds with a probability, to 6 digits.

    Args:
        tail: the probability, above 0 and at most 0.5.
        degrees: degrees of freedom, above 0.

    Raises:
        ValueError: ``tail`` is out of range.
    """
    if not 0 < tail <= 0.5:
        raise ValueError(f"a tail must be above 0 and at most 0.5, not {tail}")
    low, high = 0.0, 1.0
    while upper_tail(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        if upper_tail(middle, degrees) > tail:
            low = middle
        else:
            high = middle
    return high


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x >= 1:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x > (a + 1) / (a + b + 2):  # The fraction converges fast only below; use the symmetry.
        return 1 - _incomplete_beta(b, a, 1 - x)
    return math.exp(log_front) * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta, by Lentz's method (DLMF 8.17.22)."""
    tiny = 1e-300
    fraction, c = 1.0, 1.0
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + numerator / c
            c = c if abs(c) > tiny else tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    return fraction
