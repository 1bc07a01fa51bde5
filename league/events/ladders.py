"""Ladders: entering and leaving at any time, and rounds that follow each other without end."""

import secrets
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Max, Prefetch, Q, QuerySet
from django.utils import timezone

from engine.deals import SEED_BYTES
from engine.pairing import Candidate, Table, ladder_round
from engine.rating import elo
from league.accounts import ONLINE_FOR
from league.events.rounds import open_round
from league.hosting import check_qualified
from league.models import (
    Block,
    BlockBot,
    Bot,
    Bye,
    Ladder,
    LadderEntry,
    LadderTable,
    Round,
    Standing,
    Tournament,
)
from league.standings.hiding import note_entry, note_withdrawal

SETTLED_BLOCKS = 40
"""House bots alone on a ladder play up to here; then they rest until somebody comes."""


def enter_ladder(*, ladder: Ladder, bot: Bot) -> LadderEntry:
    """Let a bot be drawn for a ladder's rounds; entering it again changes nothing.

    A bot without a version that may play is drawn when it has one.

    Raises:
        ValidationError: its current version did not qualify for the ladder's game.
    """
    check_qualified(bot, ladder.game)
    if (entry := ladder.entries.filter(bot=bot).first()) is not None:
        return entry
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        entry, created = LadderEntry.objects.get_or_create(ladder=locked, bot=bot)
        if created:
            note_entry(locked, bot)
        return entry


def leave_ladder(*, ladder: Ladder, bot: Bot) -> None:
    """Draw a bot no more; rounds that it has been drawn for are played, its rating stays.

    From now on it is hidden, until it enters again. One that isn't on the ladder can't leave it.
    """
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        if locked.entries.filter(bot=bot).delete()[0]:
            note_withdrawal(locked, bot)


def rounds_with_counts() -> QuerySet[Round]:
    """Return all rounds, each with how many blocks it has, are finished and are void."""
    return Round.objects.select_related("ladder", "tournament").annotate(
        block_count=Count("blocks"),
        blocks_finished=Count("blocks", filter=Q(blocks__state=Block.State.FINISHED)),
        blocks_void=Count("blocks", filter=Q(blocks__state=Block.State.VOID)),
    )


def with_tables(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """Add to rounds their blocks with the bots at them, and their byes."""
    seats = BlockBot.objects.select_related("bot").order_by("bot")
    blocks = Block.objects.order_by("number").prefetch_related(Prefetch("bots", queryset=seats))
    byes = Bye.objects.select_related("bot").order_by("bot")
    return rounds.prefetch_related(
        Prefetch("blocks", queryset=blocks), Prefetch("byes", queryset=byes)
    )


def may_show_seed(round_: Round) -> bool:
    """Return whether a round's seed gives nothing away any more.

    A tournament's rounds share its seed, so it is secret until the last of them is applied.
    """
    if round_.tournament is not None:
        return round_.tournament.state == Tournament.State.FINISHED
    return round_.applied_at is not None


def ladders_to_pair() -> list[int]:
    """Return the ids of ladders whose next round may be opened now."""
    now = timezone.now()
    own = Q(rounds__tournament=None)
    ladders = Ladder.objects.filter(paused=False).annotate(
        under_way=Count("rounds", filter=own & Q(rounds__applied_at=None)),
        last=Max("rounds__applied_at", filter=own),
    )
    return [
        ladder.pk
        for ladder in ladders.filter(under_way=0)
        if ladder.last is None or ladder.last + timedelta(seconds=ladder.round_pause_seconds) <= now
    ]


def open_ladder_round(ladder_id: int) -> Round | None:
    """Open a ladder's next round, of the bots that can play now; None if there is nothing to play.

    May be called any number of times, at once too: under the ladder's lock one opens the round.
    """
    with transaction.atomic():
        ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
        if ladder_id not in ladders_to_pair():
            return None
        candidates = _candidates(ladder)
        if all(one.owner is None and one.blocks >= SETTLED_BLOCKS for one in candidates):
            return None
        seed = secrets.token_bytes(SEED_BYTES)
        # Only to be rated: those who could sit with their owner's other bots alone wait.
        tables = ladder_round(
            candidates, ladder.seats, seed, unrated=False, far_per_cent=ladder.far_per_cent
        )
        if not tables:
            return None
        played = _count_tables(ladder, tables) if ladder.seats % 2 else None
        return open_round(ladder=ladder, tables=tables, seed=seed, played=played)


def bots_to_draw(ladder: Ladder) -> QuerySet[Bot]:
    """Return the bots on a ladder that can play now: hosted ones, and remote ones online."""
    online = Q(seen_at__gte=timezone.now() - ONLINE_FOR)
    return Bot.objects.filter(
        ~Q(kind=Bot.Kind.REMOTE) | online,
        ladder_entries__ladder=ladder,
        current__isnull=False,
        paused=False,
    )


def _count_tables(ladder: Ladder, tables: Sequence[Table]) -> dict[tuple[int, ...], int]:
    """Count blocks for the tables of a round; return how many each had before.

    Call it under the ladder's lock.
    """
    key = {table.bots: ",".join(map(str, table.bots)) for table in tables}
    before = dict(
        ladder.tables.filter(bots__in=key.values()).values_list("bots", "blocks"),
    )
    now = Counter(key[table.bots] for table in tables)
    LadderTable.objects.bulk_create(
        [
            LadderTable(ladder=ladder, bots=bots, blocks=before.get(bots, 0) + more)
            for bots, more in now.items()
        ],
        update_conflicts=True,
        unique_fields=["ladder", "bots"],
        update_fields=["blocks"],
    )
    return {bots: before.get(of, 0) for bots, of in key.items()}


def _candidates(ladder: Ladder) -> list[Candidate]:
    standings = {row.bot_id: row for row in ladder.standings.all()}
    fresh = Standing(rating=elo.START, blocks=0)
    candidates = []
    for bot, owner in bots_to_draw(ladder).values_list("pk", "owner"):
        row = standings.get(bot, fresh)
        candidates.append(Candidate(bot, owner, row.rating, row.blocks, ladder.most_blocks_a_round))
    return candidates
