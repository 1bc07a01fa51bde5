"""Noise: how far luck alone moves ratings and estimates, after a number of blocks.

The model is a bot among equal opponents whose ratings are right. In a block its win share differs
from 1/2 by luck, with the standard deviation s. So a block moves its rating by K s, and the rating
is drawn back by K (ln 10 / 1600) of its error: the slope of the Elo curve at even odds. This is an
autoregressive process, so its variance follows from one block to the next.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from engine.errors import quote
from engine.rating.elo import KSchedule
from engine.rating.intervals import Z_95

_LN_10_OVER_1600 = math.log(10) / 1600


class Noise(NamedTuple):
    """What luck does to a bot after a number of blocks, in Elo.

    Attributes:
        blocks: the number of blocks.
        performance: in 95 of 100 cases the performance is at most so far from the strength.
        rating: in 95 of 100 cases luck moves the rating at most so far from where it would be.
        still_to_go: the share of the way from the first rating to the strength that is left, in
            the mean, from 1 to 0. It holds for strengths near the field's.
    """

    blocks: int
    performance: float
    rating: float
    still_to_go: float


def noise_after(
    blocks: Iterable[int], block_error: float, schedule: KSchedule | None = None
) -> list[Noise]:
    """Return the noise of a new bot after each of some numbers of blocks.

    Args:
        blocks: the numbers, from 1 and ascending.
        block_error: the standard error of a performance by one block, in Elo. A performance by B
            blocks has the standard error ``block_error / sqrt(B)``.
        schedule: gives K; by default the league's.

    Raises:
        ValueError: the numbers are not from 1 and ascending, or the error is negative or no number.
    """
    numbers = list(blocks)
    if any(low >= high for low, high in zip([0, *numbers], numbers, strict=False)):
        raise ValueError(f"the numbers of blocks must be from 1 and ascending, not {numbers}")
    if not (math.isfinite(block_error) and block_error >= 0):
        raise ValueError(f"block_error must be a number from 0, not {quote(block_error)}")
    schedule = schedule or KSchedule()
    share_error = block_error * _LN_10_OVER_1600
    variance, left, played = 0.0, 1.0, 0
    found = []
    for number in numbers:
        for block in range(played, number):
            k = schedule.k(block)
            kept = 1 - k * _LN_10_OVER_1600
            variance = kept**2 * variance + (k * share_error) ** 2
            left *= kept
        played = number
        performance = Z_95 * block_error / math.sqrt(number)
        found.append(Noise(number, performance, Z_95 * math.sqrt(variance), left))
    return found
