"""The empirical likelihood of the mean of values from -1 to 1, one value at a time.

The likelihood of a mean m is the largest likelihood that any distribution with the mean m over the
values seen gives them. So no shape of the distribution is assumed: a rare large loss beside
frequent small gains counts for what it is. Both ends, -1 and 1, always have a small weight. So
every mean between them has a likelihood, and the sample never excludes a rare large value that it
has not met yet.

Source: A. B. Owen, "Empirical Likelihood", 2001. fishtest computes its multinomial test in this
way: M. Van den Bergh, "A practical introduction to the GSPRT", with a weight of 1/1000 for values
not seen.
"""

import math
from statistics import NormalDist

from engine.errors import quote

END_WEIGHT = 1e-3
"""The weight of -1 and of 1 before the first value; a value that was seen once has the weight 1."""

_PRECISION = 1e-8
"""The squared Newton decrement at which a solution is good; half of it is the error of the cost."""

_MAX_STEPS = 200
_HALVINGS = 50


class Sample:
    """Values from -1 to 1 with the likelihood of their mean.

    Attributes:
        size: the number of values.
        total: the sum of the values.
        squares: the sum of their squares.
    """

    def __init__(self) -> None:
        self.size = 0
        self.total = 0.0
        self.squares = 0.0
        self._weights = {-1.0: END_WEIGHT, 1.0: END_WEIGHT}

    def add(self, value: float) -> None:
        """Add a value.

        Raises:
            ValueError: it is not from -1 to 1.
        """
        if not -1 <= value <= 1:
            raise ValueError(f"{quote(value)} is not from -1 to 1")
        self.size += 1
        self.total += value
        self.squares += value * value
        self._weights[value] = self._weights.get(value, 0.0) + 1

    @property
    def mean(self) -> float:
        """The mean of the values; 0 without a value."""
        return self.total / self.size if self.size else 0.0

    @property
    def variance(self) -> float:
        """The variance of the values, divided by their number; 0 without a value."""
        return max(self.squares / self.size - self.mean**2, 0.0) if self.size else 0.0

    def cost(self, mean: float, start: float = 0.0) -> tuple[float, float]:
        """Return how much log-likelihood a mean costs, and the multiplier that gives this cost.

        The best distribution with this mean gives a value v of weight w the probability
        w / (W (1 + x (v - mean))), where W is the sum of the weights. The multiplier x maximizes
        the cost, the sum of w ln(1 + x (v - mean)). Newton's method finds it inside a bracket.

        Args:
            mean: above -1 and below 1.
            start: a multiplier near the solution, such as that of the same mean one value ago.

        Returns:
            The cost, 0 or more, in nats; then x.

        Raises:
            ValueError: the mean is not between -1 and 1.
        """
        if not -1 < mean < 1:
            raise ValueError(f"a mean must be between -1 and 1, not {quote(mean)}")
        low, high = -1 / (1 - mean), 1 / (1 + mean)
        rows = [(value - mean, weight) for value, weight in self._weights.items()]
        x = start if low < start < high else 0.0
        for _ in range(_MAX_STEPS):
            slope = curve = 0.0
            for away, weight in rows:
                part = away / (1 + x * away)
                slope += weight * part
                curve += weight * part * part
            if slope * slope <= _PRECISION * curve:
                break
            if slope > 0:
                low = x
            else:
                high = x
            there = x + slope / curve
            if not low < there < high:
                there = (low + high) / 2
            if there == x:
                break  # no number lies between: x is exact
            x = there
        return max(sum(weight * math.log1p(x * away) for away, weight in rows), 0.0), x

    def interval(self, quantile: float) -> tuple[float, float]:
        """Return the lowest and the highest mean that cost at most ``quantile``² / 2.

        Args:
            quantile: standard errors between an estimate and either end; 1.96 for 95 %.
        """
        allowed = quantile * quantile / 2
        return self._end(-1.0, allowed), self._end(1.0, allowed)

    def superiority(self) -> float:
        """Return the likelihood of superiority: how probable it is that the true mean is above 0.

        This is the normal distribution function of the signed root of twice the cost of the mean 0.
        """
        root = math.sqrt(2 * self.cost(0.0)[0])
        return NormalDist().cdf(math.copysign(root, self.total))

    def _end(self, outside: float, allowed: float) -> float:
        """Return the mean between that of the values and ``outside`` that costs ``allowed``."""
        inside = self.mean
        x = 0.0
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if not -1 < middle < 1 or middle in (inside, outside):
                break
            cost, x = self.cost(middle, x)
            if cost <= allowed:
                inside = middle
            else:
                outside = middle
        return inside
