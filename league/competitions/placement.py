"""Placement: a bot's first blocks on a ladder are drawn at once, so that its rank comes fast.

When a bot enters a ladder, and for each new version, the blocks that it lacks for a rank are drawn
together: in rounds of at most four, against a spread of opponents. Their matches are played ahead
of other matches (`league.play.match_queue`). An owner's bots are placed one after the other, and
bots without a rating before new versions of others.

A remote bot plays live, in as many matches at once as it has open, so it is placed a few blocks at
a time. The opponents are bots that workers run: they play at once, and nobody waits for them.
"""

import math
import secrets
from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

from django.db import models, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest

from bots_sdk.statuses import UNFINISHED
from engine.deals import SEED_BYTES
from engine.pairing import LadderEntrant, placement_rounds
from engine.rating import elo
from league import play
from league.competitions.rounds import open_round, played_before
from league.models import (
    Block,
    BlockBot,
    Bot,
    Ladder,
    LadderEntry,
    Match,
    MatchSeat,
    Round,
    Standing,
)
from league.models.built_once import Given, built_once

MAX_PLACED = 8
"""Hosted bots that are placed on a ladder at a time, and so many remote ones; the others wait."""
REMOTE_BLOCKS = 2
"""Blocks of a remote bot that are drawn at a time."""
MAX_TIMED = 500
"""On a ladder of more bots, all are taken to be equally fast: each is met once at most."""
ROUNDS_TIMED = 20
"""The ladder's last rated rounds, whose matches show how long each bot takes."""
LEAST_SECONDS = 0.1
"""Differences between matches that are shorter than this don't matter."""
MAX_COST = 4.0
"""The slowest bots are met at least a quarter as often as the others."""


def ladders_to_place_on() -> list[int]:
    """Return the ids of ladders with a bot to place, or with a placement to end early."""
    return sorted({ladder for ladder, *_ in [*_outdated_on_active(), *_unplaced_on_active()]})


def open_placements(ladder_id: int) -> list[Round]:
    """Draw the first blocks of bots that are new on a ladder; return the rounds.

    Blocks of placements that go on for nothing become void first, unless a match of theirs has
    begun: the bot has another version now, or has left the ladder.

    Safe to call any number of times, also in parallel: blocks that are drawn are not drawn again,
    and a call that doesn't get the ladder's lock does nothing.
    """
    for block in _outdated().filter(round__ladder=ladder_id).values_list("pk", flat=True):
        why = "The bot has another version now, or has left the ladder."
        play.void_unfinished_block(block, why)
    with transaction.atomic():
        ladder = Ladder.objects.lock_free(pk=ladder_id)
        if ladder is None or ladder.paused:
            return []
        chosen = bots_placed_next(ladder)
        costs = _costs(ladder) if chosen else {}
        opened = []
        for bot, blocks in chosen:
            opened += _place(ladder, bot, blocks, costs)
        return opened


def bots_placed_next(ladder: Ladder) -> list[tuple[Bot, int]]:
    """Return the bots that get their first blocks next, each with the blocks that it lacks."""
    waiting = _waiting(ladder.pk)
    if not waiting:
        return []
    bots = Bot.objects.in_bulk([each.bot for each in waiting])
    taken = Counter[bool]()
    owners: set[tuple[bool, int | None]] = set()
    for placed in Bot.objects.filter(placements__in=ladder.rounds.open()).distinct():
        _take_place(placed, taken, owners)
    return [
        (bots[each.bot], ladder.ranked_from - each.drawn)
        for each in waiting
        if _take_place(bots[each.bot], taken, owners)
    ]


def bots_before(ladder: Ladder, bot: Bot) -> int | None:
    """Return how many bots are placed before a bot that waits; None if it does not wait."""
    waiting = [each.bot for each in _waiting(ladder.pk)]
    return waiting.index(bot.pk) if bot.pk in waiting else None


class _Unplaced(NamedTuple):
    """A bot to place: the ids of ladder and bot, and the blocks that count already."""

    ladder: int
    bot: int
    drawn: int


def _take_place(bot: Bot, taken: Counter[bool], owners: set[tuple[bool, int | None]]) -> bool:
    """Take one of the places of remote bots, or of the others; return whether one was free."""
    is_remote = bot.kind == Bot.Kind.REMOTE
    if taken[is_remote] >= MAX_PLACED or (is_remote, bot.owner_id) in owners:
        return False
    taken[is_remote] += 1
    owners.add((is_remote, bot.owner_id))
    return True


def _place(ladder: Ladder, bot: Bot, blocks: int, costs: Mapping[int, float]) -> list[Round]:
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
        max_blocks=ladder.max_blocks_per_round,
        costs=costs,
    )
    return [
        open_round(
            ladder=ladder,
            tables=tables,
            seed=secrets.token_bytes(SEED_BYTES),
            played=played_before(ladder, tables) if ladder.seats % 2 else None,
            placed=bot,
        )
        for tables in rounds
    ]


def _costs(ladder: Ladder) -> dict[int, float]:
    """Return how many times as long as others the bots of a ladder take for a match.

    A match takes at least as long as its slowest bot. So the shortest of a bot's last matches shows
    how long the bot itself takes.
    """
    if ladder.entries.count() > MAX_TIMED:
        return {}
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


def _outdated() -> QuerySet[Block]:
    """Return the blocks of placements that go on for nothing, and that have no match in play."""
    begun = Match.objects.begun().filter(block=OuterRef("pk"))
    entered = LadderEntry.objects.filter(
        ladder=OuterRef("round__ladder"), bot=OuterRef("round__placed")
    )
    current = BlockBot.objects.filter(
        block=OuterRef("pk"), bot=OuterRef("round__placed"), version=F("bot__current")
    )
    return (
        Block.objects.playing()
        .filter(round__placed__isnull=False, round__applied_at=None)
        .exclude(Exists(begun))
        .exclude(Exists(entered) & Exists(current))
    )


@built_once
def _outdated_on_active() -> QuerySet[Block, tuple[int]]:
    """Return the active ladders of the blocks that go on for nothing."""
    blocks = _outdated().filter(round__ladder__in=Ladder.objects.active())
    return blocks.values_list("round__ladder")


@built_once
def _unplaced_on_active() -> QuerySet[LadderEntry, tuple[Any, ...]]:
    """Return the bots to place on all active ladders."""
    return _unplaced(Ladder.objects.active())


@built_once
def _unplaced_on() -> QuerySet[LadderEntry, tuple[Any, ...]]:
    """Return the bots to place on a ladder."""
    return _unplaced(Ladder.objects.filter(pk=Given("ladder", models.BigIntegerField())))


def _waiting(ladder_id: int) -> list[_Unplaced]:
    """Return the bots to place on a ladder, in the order in which they are placed."""
    return [_Unplaced(*row) for row in _unplaced_on(ladder=ladder_id)]


def _unplaced(ladders: QuerySet[Ladder]) -> QuerySet[LadderEntry, tuple[Any, ...]]:
    """Return the bots to place: those without a rating first, then those that wait the longest.

    The columns are those of `_Unplaced`.

    The rated blocks of the version that plays count, also those in play. House bots are not placed:
    nobody waits for their rank. If so many blocks of a placement became void as a rank needs, the
    version is placed no more: something is wrong with it. Ordinary rounds still draw it. Blocks
    that became void before a match began don't count: the bot had left the ladder, for example.
    """
    of_bot = {"ladder": OuterRef("ladder"), "bot": OuterRef("bot")}
    rated = Standing.objects.filter(**of_bot)
    ranked = rated.filter(
        fitted_version=OuterRef("bot__current__number"),
        performance_blocks__gte=OuterRef("ladder__ranked_from"),
    )
    being_placed = Round.objects.open().filter(ladder=OuterRef("ladder"), placed=OuterRef("bot"))
    in_live_match = MatchSeat.objects.filter(
        bot=OuterRef("bot"), match__live=True, match__status__in=UNFINISHED
    )
    seats = (
        BlockBot.objects.filter(
            bot=OuterRef("bot"),
            version=OuterRef("bot__current"),
            block__round__ladder=OuterRef("ladder"),
            block__rated=True,
        )
        .order_by()
        .values("bot")
        .annotate(count=Count("pk"))
        .values("count")
    )
    needed = F("ladder__ranked_from")
    is_void = Q(block__state=Block.State.VOID)
    tried = Exists(Match.objects.filter(block=OuterRef("block"), attempts__gt=0))
    failed = seats.filter(is_void, tried, block__round__placed=F("bot"))
    ready = Bot.objects.playable().online()
    return (
        LadderEntry.objects.filter(ladder__in=ladders, bot__in=ready.filter(owner__isnull=False))
        .exclude(Exists(ranked))
        .exclude(Exists(being_placed))
        .exclude(Exists(in_live_match))
        .annotate(
            drawn=Coalesce(Subquery(seats.exclude(is_void)), 0),
            void=Coalesce(Subquery(failed), 0),
            since=Greatest("entered_at", "bot__current__created_at"),
        )
        .filter(drawn__lt=needed, void__lt=needed)
        .order_by(Exists(rated), "since", "pk")
        .values_list("ladder", "bot", "drawn")
    )
