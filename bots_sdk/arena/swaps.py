"""Swap blocks, by which the new version of a bot is compared with the old one.

Both sit at one table; a block is one deal played twice, with their seats exchanged and the
opponents where they were. `engine.rating.sprt` says when the blocks have spoken (spec "Is the new
version better?").
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.figures import student_t
from bots_sdk.arena.matches import Fixture, Played, Table
from engine.rating import sprt
from engine.rating.blocks import derive_block_seed, pair_results, plan_block

NEW, OLD = 0, 1
"""Ids at the table, and contestants."""

_MATCHES = 2


@dataclass(frozen=True, slots=True)
class SwapTest:
    """What is to be played.

    Attributes:
        table: what is played, and by how many.
        new: the version of which is asked whether it is better.
        old: the other.
        field: the opponents, who take turns; at least one unless there are two seats.
        plan: of the test, for as many seats.
        seed: 32 bytes, from which all deals and seats come.
    """

    table: Table
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
        """Yield the matches of as many blocks as the test may take."""
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
        """Return the contestants of a block besides the versions: each as often as the others."""
        places = self.table.seats - 2
        return [2 + (block * places + place) % len(self.field) for place in range(places)]


class SwapBlock(NamedTuple):
    """A block that was played.

    Attributes:
        matches: both, in order.
        difference: d, by how much the new version's mean pair result is above the old one's.
        alike: whether both matches went the same way, move for move.
    """

    matches: tuple[Played, Played]
    difference: float
    alike: bool


def blocks_in_order(played: Iterable[Played]) -> Iterator[SwapBlock]:
    """Yield the blocks as planned, from matches in whatever order they end."""
    waiting: dict[int, Played] = {}
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
    """Return about how many Elo the new version gains, and half the width of the 95 % interval.

    A test stops when its blocks are at their clearest, so this says somewhat too much.

    Args:
        plan: of the test.
        differences: d of each block, at least one.

    Returns:
        Both in Elo; no width with fewer than two blocks.
    """
    per_elo = plan.expected_difference(1.0)
    blocks = len(differences)
    width = None
    if blocks > 1:
        width = student_t(blocks - 1) * stdev(differences) / math.sqrt(blocks) / per_elo
    return fmean(differences) / per_elo, width
