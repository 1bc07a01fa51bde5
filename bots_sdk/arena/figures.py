"""Statistics of results: shares with error bars, Elo differences, and the times of moves.

The sample is the block: matches on one deal are not independent, blocks are.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from bots_sdk.arena.matches import CLOCK
from engine.rating.intervals import student_t

MIN_BLOCKS = 5
"""Fewer blocks don't show how much results vary, so they get no interval, as on a ladder."""


@dataclass(frozen=True, slots=True)
class Share:
    """A mean win share: 1 for a better place, 1/2 for a tie, 0 for a worse place.

    Attributes:
        blocks: the number of blocks.
        mean: the mean over the blocks, 0 to 1.
        low: the lower end of the 95 % interval; None with fewer than `MIN_BLOCKS` blocks, and if
            all blocks have the same share between 0 and 1.
        high: the upper end of the 95 % interval; None like ``low``.
    """

    blocks: int
    mean: float
    low: float | None
    high: float | None

    @property
    def is_flat(self) -> bool:
        """Whether enough blocks for an interval all ended equal, so there is none."""
        return self.low is None and self.blocks >= MIN_BLOCKS

    @property
    def elo(self) -> tuple[float | None, float | None, float | None]:
        """The mean, low and high share as differences in Elo; None stands for infinity."""
        return elo(self.mean), elo(self.low), elo(self.high)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON data; null stands for an infinite Elo difference."""
        return {
            "mean": self.mean,
            "interval": [self.low, self.high],
            "blocks": self.blocks,
            "elo": self.elo[0],
            "elo_interval": list(self.elo[1:]),
        }


def share(values: Sequence[float]) -> Share:
    """Return the mean of the blocks' shares with its 95 % interval, by Student's t.

    If all blocks have the same share between 0 and 1, they don't show how much results vary: then
    there is no interval. If all B blocks are won, the lower end is the share that still wins them
    all with a chance of 5 %: 0.05 ** (1 / B). If all are lost, the upper end mirrors it.

    Args:
        values: the share of each block, 0 to 1; at least one.
    """
    blocks = len(values)
    mean = fmean(values)
    if blocks < MIN_BLOCKS:
        return Share(blocks, mean, None, None)
    if 0 < mean < 1 and max(values) == min(values):
        return Share(blocks, mean, None, None)
    error = student_t(blocks - 1) * stdev(values) / math.sqrt(blocks)
    low, high = max(0.0, mean - error), min(1.0, mean + error)
    if mean == 1:
        low = 0.05 ** (1 / blocks)
    if mean == 0:
        high = 1 - 0.05 ** (1 / blocks)
    return Share(blocks, mean, low, high)


def elo(value: float | None) -> float | None:
    """Return a share s as a difference in Elo, 400 log10(s / (1 - s)); None if it is infinite."""
    if value is None or not 0 < value < 1:
        return None
    return 400 * math.log10(value / (1 - value))


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a bot's moves, in seconds.

    Attributes:
        moves: the number of moves.
        mean: the mean time.
        p99: the 99th percentile.
        longest: the longest time.
        slow: the number of moves that needed time from the bank.
        out_of_time: the number of matches in which the bank was not enough.
    """

    moves: int
    mean: float
    p99: float
    longest: float
    slow: int
    out_of_time: int


def times(matches: Iterable[Sequence[float]]) -> Times:
    """Return the figures for some matches, each given as the seconds of its moves."""
    everything: list[float] = []
    out_of_time = 0
    for seconds in matches:
        everything += seconds
        beyond = sum(max(0.0, each - CLOCK.move_seconds) for each in seconds)
        out_of_time += beyond > CLOCK.bank_seconds
    if not everything:
        return Times(0, 0.0, 0.0, 0.0, 0, 0)
    everything.sort()
    return Times(
        moves=len(everything),
        mean=fmean(everything),
        p99=everything[math.ceil(0.99 * len(everything)) - 1],
        longest=everything[-1],
        slow=sum(each > CLOCK.move_seconds for each in everything),
        out_of_time=out_of_time,
    )
