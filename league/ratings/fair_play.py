"""Fair play: which pairs of a ladder's bots do better next to each other than they should."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from engine.rating.blocks import MatchResult
from engine.rating.collusion import FlaggedPair, RatedBlock, flag_pairs
from league.models import Block, Bot, Ladder, Match, MatchSeat
from league.ratings.ledger import round_entries

MAX_BLOCKS = 20_000
"""The last of a ladder's that are looked at."""
_EXAMPLES = 5


class Report(NamedTuple):
    """A pair to look at.

    Attributes:
        found: what stands out.
        partner: who may help.
        gainer: who may be helped.
        matches: ids of the last with both.
    """

    found: FlaggedPair
    partner: Bot
    gainer: Bot
    matches: list[int]


def suspicious_pairs(ladder: Ladder) -> list[Report]:
    """Return the pairs that an organiser should look at, the clearest first."""
    found = flag_pairs(_rated_blocks(ladder))
    bots = Bot.objects.select_related("owner").in_bulk(
        {bot for one in found for bot in (one.partner, one.gainer)}
    )
    return [
        Report(one, bots[one.partner], bots[one.gainer], _matches(ladder, one)) for one in found
    ]


def _rated_blocks(ladder: Ladder) -> Iterator[RatedBlock]:
    blocks = Block.objects.filter(
        round__ladder=ladder,
        round__applied_at__isnull=False,
        state=Block.State.FINISHED,
        rated=True,
    )
    last = blocks.order_by("-pk").values_list("pk", flat=True)[MAX_BLOCKS : MAX_BLOCKS + 1]
    if last:
        blocks = blocks.filter(pk__gt=last[0])
    ratings: dict[int, dict[int, float]] = {}
    entries = round_entries(ladder).filter(round__blocks__in=blocks).distinct()
    for round_id, bot, rating in entries.values_list("round", "bot", "rating_before"):
        ratings.setdefault(round_id, {})[bot] = rating / 1000
    rows = (
        MatchSeat.objects.filter(match__block__in=blocks)
        .order_by("match__block", "match__number", "seat")
        .values_list("match__block__round", "match__block", "match__number", "bot", "place")
    )
    for (round_id, _), of_block in groupby(rows.iterator(), itemgetter(0, 1)):
        results = []
        for _, of_match in groupby(of_block, itemgetter(2)):
            seats = list(of_match)
            results.append(
                MatchResult(tuple(row[3] for row in seats), tuple(row[4] for row in seats))
            )
        yield RatedBlock(results, ratings[round_id])


def _matches(ladder: Ladder, found: FlaggedPair) -> list[int]:
    both = (
        Match.objects.filter(block__round__ladder=ladder, status=Match.Status.FINISHED)
        .filter(seating__bot=found.partner)
        .filter(seating__bot=found.gainer)
    )
    return list(both.order_by("-pk").values_list("pk", flat=True)[:_EXAMPLES])
