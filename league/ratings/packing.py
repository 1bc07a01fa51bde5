"""The format of packed pair results: a million of them are read in a second.

A pack is written when its round is applied or corrected, from the same blocks as the ratings.

A block of n bots is n (n - 1) / 2 + 4 n + 1 integers of 8 bytes, little-endian: the bots' ids
ascending; their versions; their points; their luck with the cards, in millionths of a win share;
the half points of the first bot of each pair (0, 1), (0, 2), ..., (1, 2), ...; the number of
matches. Points, luck and half points are sums over the matches. A pack is such blocks end to end,
compressed.
"""

import sys
import zlib
from array import array
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from engine.rating import elo
from engine.rating.results import half_points
from league.models import Ladder, PackedResults, Round

LUCK_UNITS = 1_000_000
"""Units of luck in a win share of 1."""
_CHUNK = 500
"""Packs read at a time."""


class Packed(NamedTuple):
    """Blocks of one number of seats, end to end.

    Attributes:
        round: id of the round of the blocks.
        seats: n.
        numbers: the integers of the blocks, in the format of this module.
    """

    round: int
    seats: int
    numbers: bytes


def integers_a_block(seats: int) -> int:
    """Return the number of integers in a block with so many seats."""
    return seats * (seats - 1) // 2 + 4 * seats + 1


def write_packed(round_: Round, finished: elo.Round) -> None:
    """Store the packs of a round, one for each number of seats; replace those that are there.

    Call it in the transaction that applies or corrects the round.

    Args:
        round_: the round that is rated.
        finished: its blocks, as the fold used them.
    """
    packs: dict[int, array[int]] = {}
    for block in sorted(finished.blocks, key=lambda block: block.number):
        if block.rated and not block.void:
            packs.setdefault(len(block.versions), array("q")).extend(_integers(block))
    round_.packed_results.all().delete()
    PackedResults.objects.bulk_create(
        PackedResults(round=round_, seats=seats, packed=zlib.compress(_little(numbers), 6))
        for seats, numbers in packs.items()
    )


def read_packed(ladder: Ladder, *, up_to: int) -> Iterator[Packed]:
    """Yield the packs of a ladder's rounds up to an applied number, in the order of application."""
    packs = PackedResults.objects.filter(round__ladder=ladder, round__applied_number__lte=up_to)
    rows = packs.order_by("round__applied_number", "seats").values_list("round", "seats", "packed")
    for round_id, seats, packed in rows.iterator(_CHUNK):
        yield Packed(round_id, seats, zlib.decompress(packed))


def _integers(block: elo.Block) -> list[int]:
    bots = sorted(block.versions)
    points = dict.fromkeys(bots, 0)
    luck = dict.fromkeys(bots, 0.0)
    halves = dict.fromkeys(combinations(bots, 2), 0)
    for result in block.results:
        places = dict(zip(result.seating, result.places, strict=True))
        for bot, score in zip(result.seating, result.scores, strict=True):
            points[bot] += score
        if result.luck:
            for bot, own in zip(result.seating, result.luck, strict=True):
                luck[bot] += own
        for i, j in halves:
            halves[i, j] += half_points(places[i], places[j])
    versions = [block.versions[bot] for bot in bots]
    millionths = [round(LUCK_UNITS * luck[bot]) for bot in bots]
    return [*bots, *versions, *points.values(), *millionths, *halves.values(), len(block.results)]


def _little(numbers: "array[int]") -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()
