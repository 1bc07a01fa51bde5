"""Swap blocks, which compare the new version of a bot with the old one.

Both versions sit at one table. A block is one deal played twice: the versions exchange seats, the
opponents keep theirs. `engine.rating.sprt` decides when to stop.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.matches import Fixture, MatchType, PlayedMatch
from engine.blocks import derive_block_seed, plan_block
from engine.rating import sprt

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
        result: the difference of the win shares, and whether both matches had the same moves.
    """

    matches: tuple[PlayedMatch, PlayedMatch]
    result: sprt.SwapResult


def blocks_in_order(played: Iterable[PlayedMatch]) -> Iterator[SwapBlock]:
    """Yield the blocks in the planned order, from matches in any order."""
    waiting: dict[int, PlayedMatch] = {}
    number = 1
    for each in played:
        waiting[each.fixture.number] = each
        while number in waiting and number + 1 in waiting:
            first, second = waiting.pop(number), waiting.pop(number + 1)
            records = [(match.result, match.record) for match in (first, second)]
            yield SwapBlock((first, second), sprt.swap_result(records, NEW, OLD))
            number += _MATCHES
