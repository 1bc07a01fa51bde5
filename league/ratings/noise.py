"""How much of a ladder's numbers is luck: its noise, and its errors about equal bots.

Twins are equally strong. If a rank band or an A/B test puts one of them above the other, that is an
error. This module counts such errors, so that they can be compared with the promised rates.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from statistics import median
from typing import NamedTuple

from django.db.models import Count, F, OuterRef, Q, Subquery

from engine.rating import sprt
from engine.rating.results import half_points
from league.models import Block, Bot, Ladder, MatchSeat, Performance
from league.ratings.match_results import StoredResult, stored_results
from league.ratings.standings import public_standings, up_to_public

MAX_BLOCKS = 2000
"""A/B tests of twins run over so many of their last blocks at one table, at most."""


class BandSplits(NamedTuple):
    """How often the rank bands separated two equal bots.

    Attributes:
        fits: the fits of performance that gave both bots a band.
        apart: those that put them into different bands.
    """

    fits: int
    apart: int


class TestsOfEqualBots(NamedTuple):
    """A/B tests of two equal bots, one after the other, over the blocks in which both sat.

    Attributes:
        blocks: the number of blocks.
        ended: the number of tests that ended.
        better: those that called either bot better, by mistake.
        not_better: those that found no gain. The others ended in another way.
    """

    blocks: int
    ended: int
    better: int
    not_better: int


def block_error(ladder: Ladder) -> float | None:
    """Return the standard error of a performance by one block, in Elo; None before a rank.

    It is the median over the shown bots with a rank.
    """
    rows = public_standings(ladder).ranked()
    errors = [
        error * math.sqrt(blocks)
        for error, blocks in rows.values_list("performance_error", "performance_blocks")
        if error is not None
    ]
    return median(errors) if errors else None


def band_splits(ladder: Ladder, bot: Bot, twin: Bot) -> BandSplits:
    """Return how often rank bands separated two equal bots, up to the public standings."""
    of_twin = Performance.objects.filter(bot=twin, round=OuterRef("round")).values("band")
    both = (
        Performance.objects.filter(up_to_public(ladder), round__ladder=ladder, bot=bot)
        .annotate(twin_band=Subquery(of_twin))
        .filter(band__isnull=False, twin_band__isnull=False)
    )
    return BandSplits(
        **both.aggregate(fits=Count("pk"), apart=Count("pk", filter=~Q(band=F("twin_band"))))
    )


def tests_of_twins(ladder: Ladder, bot: Bot, twin: Bot) -> TestsOfEqualBots:
    """Run A/B tests of two equal bots over the last rated blocks in which both sat.

    Each test begins where the one before ended. The last one, which has not ended, is not counted.
    """
    blocks = (
        Block.objects.finished()
        .filter(up_to_public(ladder), round__ladder=ladder, round__applied_at__isnull=False)
        .filter(rated=True, bots__bot=bot)
        .filter(bots__bot=twin)
        .order_by("-round__applied_number", "-number")
    )
    ids = list(blocks.values_list("pk", flat=True)[:MAX_BLOCKS])
    differences = _differences(ids, bot.pk, twin.pk)
    plan = sprt.Plan(seats=ladder.seats)
    decisions = Counter(_decisions(plan, (differences[pk] for pk in reversed(ids))))
    # A test looks for a gain of the first bot only. So it runs again with the bots exchanged.
    decisions += Counter(_decisions(plan, (-differences[pk] for pk in reversed(ids))))
    return TestsOfEqualBots(
        blocks=len(ids),
        ended=decisions.total(),
        better=decisions[sprt.Decision.BETTER],
        not_better=decisions[sprt.Decision.NOT_BETTER],
    )


def _differences(blocks: list[int], bot: int, twin: int) -> dict[int, float]:
    """Return by block the difference of two bots' win shares over its matches."""
    seats = MatchSeat.objects.filter(match__block__in=blocks)

    def of_block(stored: StoredResult) -> int:
        return stored.block

    return {
        block: _difference(list(results), bot, twin)
        for block, results in groupby(stored_results(seats), of_block)
    }


def _difference(results: list[StoredResult], bot: int, twin: int) -> float:
    """Return what `sprt.block_difference` returns, without its slow fractions."""
    halves = pairs = 0
    for stored in results:
        placed = dict(zip(stored.result.seating, stored.result.places, strict=True))
        mine, other = placed[bot], placed[twin]
        # Against itself a bot has one half-point, in both sums.
        halves += sum(
            half_points(mine, place) - half_points(other, place) for place in placed.values()
        )
        pairs += len(placed) - 1
    return halves / 2 / pairs


def _decisions(plan: sprt.Plan, differences: Iterable[float]) -> Iterator[sprt.Decision]:
    """Run a test over differences, and another over what it left, until none is left."""
    # Whether the moves were the same has no meaning here: no seats were exchanged.
    left = (sprt.SwapResult(difference, same_moves=False) for difference in differences)
    while point := sprt.latest_point(plan, left):
        if point.decision is None:
            return
        yield point.decision
