"""Placement: a bot's first blocks on a ladder are drawn at once, so that its rank comes fast.

When a bot enters a ladder, and for each new version, the blocks that it lacks for a rank are drawn
together: in rounds of at most four, against a spread of opponents. Their matches are played ahead
of other matches (`league.play.match_queue`). An owner's bots are placed one after the other.

A remote bot plays live, in as many matches at once as it has open, so it is placed a few blocks at
a time. The opponents are bots that workers run: they play at once, and nobody waits for them.
"""

import math
import secrets
from statistics import median

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from engine.deals import SEED_BYTES
from engine.pairing import LadderEntrant, placement_rounds
from engine.rating import elo
from league.bots import ONLINE_FOR
from league.competitions.rounds import count_tables, open_round
from league.models import Block, BlockBot, Bot, Ladder, LadderEntry, MatchSeat, Round, Standing
from league.models.ladders import RANKED_FROM

MAX_PLACED = 8
"""Bots that are placed on a ladder at a time; the others wait."""
REMOTE_BLOCKS = 2
"""Blocks of a remote bot that are drawn at a time."""
ROUNDS_TIMED = 20
"""The ladder's last rated rounds, whose matches show how long each bot takes."""
LEAST_SECONDS = 0.1
"""Differences between matches that are shorter than this don't matter."""
MAX_COST = 4.0
"""The slowest bots are met at least a quarter as often as the others."""


def ladders_to_place_on() -> list[int]:
    """Return the ids of ladders with a bot to place."""
    return sorted({ladder for ladder, _, _ in _unplaced(Ladder.objects.active())})


def open_placements(ladder_id: int) -> list[Round]:
    """Draw the first blocks of bots that are new on a ladder; return the rounds.

    Safe to call any number of times, also in parallel: blocks that are drawn are not drawn again,
    and a call that doesn't get the ladder's lock does nothing.
    """
    with transaction.atomic():
        ladder = Ladder.objects.lock_free(pk=ladder_id)
        if ladder is None or ladder.paused:
            return []
        open_now = ladder.rounds.open().filter(placed__isnull=False)
        owners: set[int | None] = set(open_now.values_list("placed__owner", flat=True))
        drawn = {bot: blocks for _, bot, blocks in _unplaced(Ladder.objects.filter(pk=ladder_id))}
        bots = Bot.objects.in_bulk(drawn)
        opened = []
        for pk, blocks in drawn.items():
            bot = bots[pk]
            if len(owners) < MAX_PLACED and bot.owner_id not in owners:
                owners.add(bot.owner_id)
                opened += _place(ladder, bot, RANKED_FROM - blocks)
        return opened


def _place(ladder: Ladder, bot: Bot, blocks: int) -> list[Round]:
    """Draw so many blocks of a bot; none if it has too few opponents."""
    if bot.kind == Bot.Kind.REMOTE:
        blocks = min(blocks, REMOTE_BLOCKS)
    ratings = dict(ladder.standings.values_list("bot", "rating"))

    def entrant(pk: int, owner: int | None) -> LadderEntrant:
        return LadderEntrant(pk, owner, ratings.get(pk, elo.START), blocks=0)

    opponents = Bot.objects.playable().run_by_workers().filter(ladder_entries__ladder=ladder)
    field = opponents.exclude(owner=bot.owner_id).values_list("pk", "owner")
    rounds = placement_rounds(
        entrant(bot.pk, bot.owner_id),
        [entrant(pk, owner) for pk, owner in field],
        ladder.seats,
        secrets.token_bytes(SEED_BYTES),
        blocks=blocks,
        costs=_costs(ladder),
    )
    return [
        open_round(
            ladder=ladder,
            tables=tables,
            seed=secrets.token_bytes(SEED_BYTES),
            played=count_tables(ladder, tables) if ladder.seats % 2 else None,
            placed=bot,
        )
        for tables in rounds
    ]


def _costs(ladder: Ladder) -> dict[int, float]:
    """Return how many times as long as others the bots of a ladder take for a match.

    A match takes at least as long as its slowest bot. So the shortest of a bot's last matches shows
    how long the bot itself takes.
    """
    last = ladder.rounds.applied().order_by("-applied_number").values("pk")[:ROUNDS_TIMED]
    seats = MatchSeat.objects.in_finished().filter(match__live=False, match__block__round__in=last)
    times = seats.values_list("bot", F("match__finished_at") - F("match__started_at"))
    shortest: dict[int, float] = {}
    for bot, time in times:
        if time is not None:
            shortest[bot] = min(shortest.get(bot, math.inf), time.total_seconds())
    if not shortest:
        return {}
    usual = max(median(shortest.values()), LEAST_SECONDS)
    return {bot: min(max(time / usual, 1.0), MAX_COST) for bot, time in shortest.items()}


def _unplaced(
    ladders: QuerySet[Ladder],
) -> "QuerySet[LadderEntry, tuple[int, int, int]]":
    """Return the ids of ladder and bot of each bot to place, and the blocks that count already.

    These are the rated blocks of the version that plays, also those in play. House bots are not
    placed: nobody waits for their rank.
    """
    of_bot = {"ladder": OuterRef("ladder"), "bot": OuterRef("bot")}
    ranked = Standing.objects.filter(
        version=OuterRef("bot__current__number"), performance_blocks__gte=RANKED_FROM, **of_bot
    )
    being_placed = Round.objects.open().filter(ladder=OuterRef("ladder"), placed=OuterRef("bot"))
    drawn = (
        BlockBot.objects.filter(
            bot=OuterRef("bot"),
            version=OuterRef("bot__current"),
            block__round__ladder=OuterRef("ladder"),
            block__rated=True,
        )
        .exclude(block__state=Block.State.VOID)
        .order_by()
        .values("bot")
        .annotate(count=Count("pk"))
    )
    ready = Bot.objects.playable().answering(since=timezone.now() - ONLINE_FOR)
    return (
        LadderEntry.objects.filter(ladder__in=ladders, bot__in=ready.filter(owner__isnull=False))
        .exclude(Exists(ranked))
        .exclude(Exists(being_placed))
        .annotate(drawn=Coalesce(Subquery(drawn.values("count")), 0))
        .filter(drawn__lt=RANKED_FROM)
        .order_by("pk")
        .values_list("ladder", "bot", "drawn")
    )
