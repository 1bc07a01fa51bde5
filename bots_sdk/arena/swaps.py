"""Swap blocks, which compare the new version of a bot with the old one.

Both versions sit at one table. A block is one deal played twice: the versions exchange seats, the
opponents keep theirs. `engine.rating.sprt` decides when to stop.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.matches import Fixture, MatchType, PlayedMatch
from engine.rating import sprt
from engine.rating.blocks import derive_block_seed, pair_results, plan_block
from engine.rating.intervals import student_t

NEW, OLD = 0, 1
"""The versions' ids at the table, and their contestants."""

_MATCHES = 2


@dataclass(frozen=True, slots=True)
class SwapTest:
    """A comparison of two versions.

    Attributes:
        table: the game, the preset and the number of seats.
        new: the version that may be better.
        old: the version to compare it with.
        field: the opponents, which take turns; at least one unless there are two seats.
        plan: the plan of the statistical test, for the same number of seats.
        seed: the seed of all deals and seats, 32 bytes.
    """

    table: MatchType
    new: Contestant
    old: Contestant
    field: tuple[Contestant, ...]
    plan: sprt.Plan
    seed: bytes

    @property
    def contestants(self) -> tuple[Contestant, ...]:
        """The versions, then the field."""
        return (self.new, self.old, *self.field)

    def fixtures(self) -> Iterator[Fixture]:
        """Yield the matches of the largest number of blocks that the test may need."""
        seats = self.table.seats
        for block in range(self.plan.max_blocks):
            planned = plan_block(derive_block_seed(self.seed, block), range(seats), duplicate=True)
            first = planned.matches[0]
            swapped = tuple({NEW: OLD, OLD: NEW}.get(bot, bot) for bot in first.seating)
            for turn, seating in enumerate((first.seating, swapped)):
                yield Fixture(
                    number=_MATCHES * block + turn + 1,
                    block=block,
                    deal_seed=first.deal_seed,
                    bots=(NEW, OLD, *self._opponents(block)),
                    seating=seating,
                )

    def _opponents(self, block: int) -> list[int]:
        """Return the opponents in a block; all opponents play equally often."""
        places = self.table.seats - 2
        return [2 + (block * places + place) % len(self.field) for place in range(places)]


class SwapBlock(NamedTuple):
    """A finished swap block.

    Attributes:
        matches: both matches, in order.
        difference: d, the new version's mean pair result minus the old one's.
        alike: whether both matches have the same moves.
    """

    matches: tuple[PlayedMatch, PlayedMatch]
    difference: float
    alike: bool


def blocks_in_order(played: Iterable[PlayedMatch]) -> Iterator[SwapBlock]:
    """Yield the blocks in the planned order, from matches in any order."""
    waiting: dict[int, PlayedMatch] = {}
    number = 1
    for each in played:
        waiting[each.fixture.number] = each
        while number in waiting and number + 1 in waiting:
            first, second = waiting.pop(number), waiting.pop(number + 1)
            shares = pair_results([first.result, second.result])
            yield SwapBlock(
                matches=(first, second),
                difference=float(sprt.block_difference(shares, NEW, OLD)),
                alike=first.record.moves == second.record.moves,
            )
            number += _MATCHES


def gain(plan: sprt.Plan, differences: list[float]) -> tuple[float, float | None]:
    """Return the estimated gain of the new version, and half the width of its 95 % interval.

    The test stops when the result is clearest, so the estimate is somewhat too large.

    Args:
        plan: the plan of the test.
        differences: d of each block; at least one.

    Returns:
        Both in Elo; the width is None with fewer than two blocks.
    """
    per_elo = plan.expected_difference(1.0)
    blocks = len(differences)
    width = None
    if blocks > 1:
        width = student_t(blocks - 1) * stdev(differences) / math.sqrt(blocks) / per_elo
    return fmean(differences) / per_elo, width
