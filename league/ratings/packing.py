"""Pair results of rated blocks, packed a round at a time, so that a million are read in a second.

A block of n bots is n (n - 1) / 2 + 3 n + 1 integers of 8 bytes, little-endian: the bots' ids
ascending, their versions, their points, what the first of each pair (0, 1), (0, 2), ..., (1, 2),
... of them took in half points, and the matches. A pack is such blocks end to end, compressed.
"""

import sys
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from django.db import transaction

from engine.rating.blocks import half_points
from league.models import Block, Ladder, MatchSeat, PackedResults, Round

_CHUNK = 500
"""Packs or rounds read at a time."""


class Packed(NamedTuple):
    """Blocks of one number of seats, end to end.

    Attributes:
        round: id of the round that they are of.
        seats: n.
        numbers: the integers of the blocks, as said above.
    """

    round: int
    seats: int
    numbers: bytes


def integers_a_block(seats: int) -> int:
    """Return how many integers a block of so many seats has."""
    return seats * (seats - 1) // 2 + 3 * seats + 1


def pack_missing(ladder: Ladder, *, up_to: int) -> bool:
    """Pack the rounds up to a number that are applied and not packed yet.

    May be called any number of times, at once too: packs of a round are all the same. A correction
    throws packs away; what was read before it is not stored after it.

    Returns:
        Whether they are all packed: not if the ladder was corrected since it was read.
    """
    rounds = ladder.rounds.filter(applied_at__isnull=False, number__lte=up_to)
    # A round without a rated block has no pack, and is looked at again each time; they are few.
    for round_ in rounds.filter(packed_results=None).order_by("number").iterator(_CHUNK):
        packs = _pack(round_)
        with transaction.atomic():
            if Ladder.objects.select_for_update().get(pk=ladder.pk).revision != ladder.revision:
                return False
            PackedResults.objects.bulk_create(packs, ignore_conflicts=True)
    return True


def read_packed(ladder: Ladder, *, up_to: int) -> Iterator[Packed]:
    """Yield the packs of a ladder's rounds up to a number, in their order."""
    packs = PackedResults.objects.filter(round__ladder=ladder, round__number__lte=up_to)
    rows = packs.order_by("round__number", "seats").values_list("round", "seats", "packed")
    for round_id, seats, packed in rows.iterator(_CHUNK):
        yield Packed(round_id, seats, zlib.decompress(packed))


def _pack(round_: Round) -> list[PackedResults]:
    """Return a round's packs, one a number of seats, from the places that its matches came to."""
    versions: dict[int, dict[int, int]] = defaultdict(dict)
    rated = round_.blocks.filter(state=Block.State.FINISHED, rated=True).order_by("number")
    for block, bot, version in rated.values_list("pk", "bots__bot", "bots__version__number"):
        versions[block][bot] = version
    seats = (
        MatchSeat.objects.filter(match__block__in=versions)
        .order_by("match__block__number", "match_id", "seat")
        .values_list("match__block", "match", "bot", "place", "score")
    )
    blocks: dict[int, array[int]] = {}
    for block, rows in groupby(seats.iterator(), key=lambda row: row[0]):
        at_table = versions[block]
        packed = blocks.setdefault(len(at_table), array("q"))
        packed.extend(_integers(at_table, [(m, b, place, score) for _, m, b, place, score in rows]))
    return [
        PackedResults(round=round_, seats=seats, packed=zlib.compress(_little(numbers), 6))
        for seats, numbers in blocks.items()
    ]


def _integers(versions: dict[int, int], rows: Sequence[tuple[int, int, int, int]]) -> Iterable[int]:
    """Return a block's integers, from its seats in the order of matches."""
    bots = sorted(versions)
    points = dict.fromkeys(bots, 0)
    halves: Counter[tuple[int, int]] = Counter()
    matches = 0
    for _, table in groupby(rows, key=lambda row: row[0]):
        places = {}
        for _, bot, place, score in table:
            places[bot] = place
            points[bot] += score
        for i, j in combinations(bots, 2):
            halves[i, j] += half_points(places[i], places[j])
        matches += 1
    taken = [halves[pair] for pair in combinations(bots, 2)]
    return [*bots, *(versions[bot] for bot in bots), *points.values(), *taken, matches]


def _little(numbers: "array[int]") -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()
