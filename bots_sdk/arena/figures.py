"""What results say: shares with their error bars, as Elo, and how long moves took.

The unit of chance is the block: matches on one deal are no independent witnesses, blocks are.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from bots_sdk.arena.matches import CLOCK

_T_OF_FEW = (12.706, 4.303, 3.182)
"""Student's t for 95 %, by degrees of freedom from 1."""


@dataclass(frozen=True, slots=True)
class Share:
    """A mean share of points, 1 for being placed better, 1/2 for a tie.

    Attributes:
        blocks: it is the mean over these.
        mean: 0 to 1.
        low: the lower end of the 95 % interval; None with fewer than two blocks.
        high: the upper end.
    """

    blocks: int
    mean: float
    low: float | None
    high: float | None

    @property
    def elo(self) -> tuple[float | None, float | None, float | None]:
        """As a difference in Elo: mean, low, high; None where it has no bound."""
        return elo(self.mean), elo(self.low), elo(self.high)


def share(values: Sequence[float]) -> Share:
    """Return the mean of some blocks' shares with its 95 % interval.

    Student's t of the blocks; where all blocks went one way, what still gives that with a chance
    of 5 % (0.05 ** (1 / B) of a share).

    Args:
        values: a share a block, 0 to 1, at least one.
    """
    blocks = len(values)
    mean = fmean(values)
    if blocks < 2:
        return Share(blocks, mean, None, None)
    error = student_t(blocks - 1) * stdev(values) / math.sqrt(blocks)
    low, high = max(0.0, mean - error), min(1.0, mean + error)
    if mean == 1:
        low = 0.05 ** (1 / blocks)
    if mean == 0:
        high = 1 - 0.05 ** (1 / blocks)
    return Share(blocks, mean, low, high)


def elo(value: float | None) -> float | None:
    """Return a share as a difference in Elo, 400 log10(s / (1 - s)); None if that is infinite."""
    if value is None or not 0 < value < 1:
        return None
    return 400 * math.log10(value / (1 - value))


def student_t(degrees: int) -> float:
    """Return the two-sided 95 % point of Student's t, good to 0.5 %.

    Above three degrees it is the expansion around the normal's (Abramowitz and Stegun, 26.7.5).
    """
    if degrees <= len(_T_OF_FEW):
        return _T_OF_FEW[degrees - 1]
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * degrees)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    )


@dataclass(frozen=True, slots=True)
class Times:
    """How long a bot's moves took, in seconds.

    Attributes:
        moves: how many.
        mean: of all.
        p99: 99 of 100 took at most so long.
        most: the longest.
        slow: how many took longer than a move has without the bank.
        out_of_time: matches whose bank would not have been enough.
    """

    moves: int
    mean: float
    p99: float
    most: float
    slow: int
    out_of_time: int


def times(matches: Iterable[Sequence[float]]) -> Times:
    """Return the figures of some matches, each the seconds of its moves."""
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
        most=everything[-1],
        slow=sum(each > CLOCK.move_seconds for each in everything),
        out_of_time=out_of_time,
    )
