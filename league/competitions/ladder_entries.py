"""Ladders: entering and leaving at any time, and reading their rounds."""

from django.db import transaction
from django.db.models import Count, Prefetch, Q, QuerySet

from league.bots import check_qualified
from league.models import (
    Block,
    BlockBot,
    Bot,
    Bye,
    Ladder,
    LadderEntry,
    Round,
)
from league.ratings.hiding import note_entry, note_withdrawal


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
