"""How much pairs of honest bots differ from the ratings: the allowance of the collusion screen.

Honest bots have styles. A bot that gives away good cards helps every bot after it, and some bots
profit from one opponent's habits more than from another's. Ratings do not contain such effects, so
a test against chance alone finds them all once there are enough blocks. This module fits them: an
effect of each partner, one of each gainer, and a spread of the effects of single pairs. A pair is
then compared with what the other pairs of its ladder show.

The model is y = m + a_partner + b_gainer + u_pair + error, with normal effects of unknown spread
(D. A. Harville, "Maximum likelihood approaches to variance component estimation", 1977). The spread
of u is a robust M-estimate (P. J. Huber, "Robust Statistics", 1981), so that a few colluding pairs
do not hide themselves behind it.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import NamedTuple

PRIOR_SPREAD = 0.02
"""Spread of the effects of honest pairs, in win share, that is assumed before any pair is seen."""
PRIOR_PAIRS = 10
"""Number of pairs that the assumed spread counts as."""
MAX_SPREAD = 0.1
"""Largest spread of honest effects, in win share: 70 Elo. Measured spreads are below 0.06. Without
it, colluders in a league of a few bots would make their own effect look usual."""
_STEPS = 10
_CUT = 2.0
"""Residuals beyond so many standard deviations count as this many in the estimate of the spread."""
_MEAN_CUT_SQUARE = 0.920537
"""The mean of min(z², `_CUT`²) if z is standard normal."""


class Measured(NamedTuple):
    """The measured gain of a pair, before any allowance.

    Attributes:
        partner: the bot that may help.
        gainer: the bot that may profit.
        gain: in win share.
        variance: the squared standard error of the gain, above 0.
    """

    partner: int
    gainer: int
    gain: float
    variance: float


class Expected(NamedTuple):
    """The gain that the other pairs of the ladder let one expect of an honest pair.

    Attributes:
        gain: in win share.
        variance: of the effect of an honest pair about this gain; chance comes on top.
    """

    gain: float
    variance: float


@dataclass(slots=True)
class _Effects:
    """The effects of partners or of gainers.

    Attributes:
        spread: their variance.
        sums: by bot, the weighted sum of the residuals of its pairs.
        weights: by bot, the sum of their weights.
    """

    spread: float
    sums: dict[int, float]
    weights: dict[int, float]

    def of(self, bot: int, residual: float = 0.0, weight: float = 0.0) -> tuple[float, float]:
        """Return the mean and variance of an effect, without the pair that has this residual."""
        if self.spread <= 0:
            return 0.0, 0.0
        total = max(self.weights[bot] - weight, 0.0) + 1 / self.spread
        return (self.sums[bot] - weight * residual) / total, 1 / total

    def update(
        self, bots: Sequence[int], residuals: Sequence[float], weights: Sequence[float]
    ) -> None:
        """Fit the effects to residuals that contain them, then the spread to the effects."""
        self.sums, self.weights = defaultdict(float), defaultdict(float)
        for bot, residual, weight in zip(bots, residuals, weights, strict=True):
            self.sums[bot] += weight * residual
            self.weights[bot] += weight
        found = [self.of(bot) for bot in self.weights]
        spread = math.fsum(mean * mean + left for mean, left in found) / len(found)
        self.spread = min(spread, MAX_SPREAD**2)


def expected_gains(pairs: Sequence[Measured]) -> list[Expected]:
    """Return for each pair what its ladder's other pairs let one expect, if the pair is honest.

    Args:
        pairs: the pairs of a ladder, each at most once.
    """
    if not pairs:
        return []
    partners = [pair.partner for pair in pairs]
    gainers = [pair.gainer for pair in pairs]
    centre, spread = 0.0, PRIOR_SPREAD**2
    helped, gained = (_Effects(spread, {}, {}) for _ in range(2))
    helped.sums, helped.weights = dict.fromkeys(partners, 0.0), dict.fromkeys(partners, 0.0)
    gained.sums, gained.weights = dict.fromkeys(gainers, 0.0), dict.fromkeys(gainers, 0.0)
    expected: list[Expected] = []
    for _ in range(_STEPS):
        weights = [1 / (pair.variance + spread) for pair in pairs]
        b = {bot: gained.of(bot)[0] for bot in gained.weights}
        of_partners = [pair.gain - centre - b[pair.gainer] for pair in pairs]
        helped.update(partners, of_partners, weights)
        a = {bot: helped.of(bot)[0] for bot in helped.weights}
        of_gainers = [pair.gain - centre - a[pair.partner] for pair in pairs]
        gained.update(gainers, of_gainers, weights)
        b = {bot: gained.of(bot)[0] for bot in gained.weights}
        left = [pair.gain - a[pair.partner] - b[pair.gainer] for pair in pairs]
        centre = _weighted_mean(left, weights)
        effects = []
        for pair, p, g, weight in zip(pairs, of_partners, of_gainers, weights, strict=True):
            from_partner, unsure_p = helped.of(pair.partner, p, weight)
            from_gainer, unsure_g = gained.of(pair.gainer, g, weight)
            effects.append((centre + from_partner + from_gainer, unsure_p + unsure_g))
        squares = [
            ((pair.gain - mean) ** 2, pair.variance + unsure)
            for pair, (mean, unsure) in zip(pairs, effects, strict=True)
        ]
        spread = _robust_spread(squares)
        expected = [Expected(mean, unsure + spread) for mean, unsure in effects]
    return expected


def _weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(map(mul, values, weights)) / math.fsum(weights)


def _robust_spread(squares: Sequence[tuple[float, float]]) -> float:
    """Return the variance of the effects of pairs.

    It is the one at which the cut squares of the standardised residuals have the mean that they
    have for normal residuals. `PRIOR_PAIRS` residuals of the assumed spread count as well.

    Args:
        squares: of each pair, its squared residual and the variance that has other causes.
    """

    def surplus(spread: float) -> float:
        cut = math.fsum(min(square / (other + spread), _CUT**2) for square, other in squares)
        prior = min(_MEAN_CUT_SQUARE * PRIOR_SPREAD**2 / spread, _CUT**2)
        return cut + PRIOR_PAIRS * prior - _MEAN_CUT_SQUARE * (len(squares) + PRIOR_PAIRS)

    low, high = 1e-6, MAX_SPREAD**2
    for _ in range(16):
        middle = math.sqrt(low * high)
        if surplus(middle) > 0:
            low = middle
        else:
            high = middle
    return high
