"""Fair play: which pairs of a ladder's bots do better beside each other than they should.

The report states its power too: an empty list of pairs means little if there are few blocks.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from engine.rating.collusion import QUESTIONS, PairTest, Power, RatedBlock, screen
from league.models import Block, Bot, Ladder, Match, MatchSeat
from league.ratings.ledger import round_entries
from league.ratings.match_results import stored_results

MAX_BLOCKS = 20_000
"""The last blocks of a ladder that a report covers."""
_EXAMPLES = 5


class SuspiciousPair(NamedTuple):
    """A suspicious pair, for an organiser to examine.

    Attributes:
        found: the measure that stands out.
        partner: the bot that may help.
        gainer: the bot that may be helped.
        matches: ids of their last matches together.
    """

    found: PairTest
    partner: Bot
    gainer: Bot
    matches: list[int]


class FairPlayReport(NamedTuple):
    """The report on fair play of a ladder.

    Attributes:
        pairs: the suspicious pairs, the clearest first.
        power: what each test could have found.
        blocks: the number of blocks that the report covers.
    """

    pairs: list[SuspiciousPair]
    power: list[Power]
    blocks: int


def fair_play_report(ladder: Ladder) -> FairPlayReport:
    """Return the pairs that an organiser should examine, and what the tests can find."""
    blocks = list(_rated_blocks(ladder))
    result = screen(blocks)
    bots = Bot.objects.select_related("owner").in_bulk(
        {bot for one in result.flagged for bot in (one.partner, one.gainer)}
    )
    pairs = [
        SuspiciousPair(one, bots[one.partner], bots[one.gainer], _matches(ladder, one))
        for one in result.flagged
    ]
    return FairPlayReport(pairs, [result.power[name] for name in QUESTIONS], len(blocks))


def _rated_blocks(ladder: Ladder) -> Iterator[RatedBlock]:
    blocks = Block.objects.counting().filter(round__ladder=ladder)
    last = blocks.order_by("-pk").values_list("pk", flat=True)[MAX_BLOCKS : MAX_BLOCKS + 1]
    if last:
        blocks = blocks.filter(pk__gt=last[0])
    ratings: dict[int, dict[int, float]] = {}
    entries = round_entries(ladder).filter(round__blocks__in=blocks).distinct()
    for round_id, bot, rating in entries.values_list("round", "bot", "rating_before"):
        ratings.setdefault(round_id, {})[bot] = rating / 1000
    results = stored_results(MatchSeat.objects.filter(match__block__in=blocks))
    for _, stored in groupby(results, attrgetter("block")):
        of_block = list(stored)
        known = ratings.get(of_block[0].round, {})
        # A round that was applied after the ratings were read belongs to the next report.
        if known.keys() >= set(of_block[0].result.seating):
            yield RatedBlock([one.result for one in of_block], known)


def _matches(ladder: Ladder, found: PairTest) -> list[int]:
    both = (
        Match.objects.finished()
        .filter(block__round__ladder=ladder)
        .with_bots(found.partner, found.gainer)
    )
    return list(both.order_by("-pk").values_list("pk", flat=True)[:_EXAMPLES])
