"""Corrections: a ladder is folded again as a new revision, so that it follows its void marks."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet

from league.models import (
    Block,
    BlockBot,
    Fit,
    HeadToHead,
    Ladder,
    Performance,
    Revision,
    RoundEntry,
    Standing,
    VoidMark,
)
from league.models.built_once import built_once
from league.ratings.alarms import lift_alarm
from league.ratings.applying import write_ledger
from league.ratings.fold import Fold
from league.ratings.hiding import hide_withdrawn
from league.ratings.ledger import applied_number
from league.ratings.match_results import rewrite_wrong_copies
from league.ratings.packing import write_packed
from league.ratings.totals import add_head_to_head
from league.single_workers import Work, hold_in_transaction


def ladders_to_correct() -> list[int]:
    """Return the ids of ladders with void marks that their ratings do not follow yet."""
    return [ladder_id for (ladder_id,) in _not_followed()]


@built_once
def _not_followed() -> QuerySet[VoidMark, tuple[int]]:
    return VoidMark.objects.pending().values_list("block__round__ladder").distinct()


def correct(ladder_id: int, *, reason: str = "") -> Revision | None:
    """Fold a ladder again by its newest void marks; return the new revision, if one is made.

    It is one transaction: until the commit, readers see the old ratings and rounds are applied.
    It takes the ladder's lock only at its end, to add the rounds applied in the meantime.

    Args:
        ladder_id: of the ladder. While another correction of it runs, this call does nothing.
        reason: makes a revision from the first round on, with or without void marks; so it repairs
            every difference that `recompute` finds.

    Raises:
        DamagedError: a record of a block that is not void can't be read.
    """
    with transaction.atomic():
        if not hold_in_transaction(Work.CORRECTION_OF_LADDER, ladder_id):
            return None
        ladder = Ladder.objects.get(pk=ladder_id)
        marks = list(
            VoidMark.objects.pending()
            .filter(block__round__ladder=ladder)
            .select_related("block__round")
            .order_by("pk")
        )
        if not marks and not reason:
            return None
        restored = frozenset(mark.block_id for mark in marks if mark.takes_back)
        void = frozenset(mark.block_id for mark in marks) - restored
        first = 1 if reason else min(applied_number(mark.block.round) for mark in marks)
        number = ladder.revision + 1
        fold = Fold(ladder)
        _write_rounds(fold, first, number, void, restored)
        ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
        _write_rounds(fold, first, number, void, restored)
        Block.objects.filter(pk__in=void).update(state=Block.State.VOID)
        Block.objects.filter(pk__in=restored).update(state=Block.State.FINISHED)
        _replace_standings(fold)
        rewrite_wrong_copies(fold.wrong)
        _forget_performance(void, number)
        # Performance is fitted again, as after any round.
        Fit.objects.filter(round__ladder=ladder, round__applied_number__gte=first).delete()
        ladder.revision = number
        ladder.save(update_fields=["revision"])
        if first == 1:  # else rows of earlier rounds may still differ
            lift_alarm(ladder)
        return Revision.objects.create(
            ladder=ladder,
            number=number,
            from_applied_number=first,
            reason=_reasons(reason, marks),
        )


def _reasons(reason: str, marks: list[VoidMark]) -> str:
    voids = [
        f"Block {mark.block.number} of round {mark.block.round.number} "
        f"{'counts again' if mark.takes_back else 'is void'}: {mark.reason}"
        for mark in marks
    ]
    return "\n".join(filter(None, [reason, *voids]))


def _write_rounds(
    fold: Fold, first: int, revision: int, void: frozenset[int], restored: frozenset[int]
) -> None:
    for round_, finished, applied in fold.go_on(void=void, restored=restored):
        if applied_number(round_) >= first:
            write_ledger(round_, applied, revision)
            write_packed(round_, finished)


def _forget_performance(void: Collection[int], revision: int) -> None:
    """Delete a bot's performance after a round if the round does not rate the bot any more.

    A fit stores rows only for bots that a round has rated, so it would not replace this row.
    """
    seats = BlockBot.objects.filter(block__in=void).values_list("block__round", "bot")
    rated = RoundEntry.objects.filter(revision=revision, round__blocks__in=void)
    for round_id, bot in set(seats).difference(rated.values_list("round", "bot")):
        Performance.objects.filter(round=round_id, bot=bot).delete()


def _replace_standings(fold: Fold) -> None:
    """Store the standings of the fold; a bot that no block rates any more leaves the ladder."""
    ladder = fold.ladder
    ladder.standings.exclude(bot__in=fold.standings).delete()
    Standing.objects.bulk_create(
        (
            Standing(
                ladder=ladder,
                bot_id=bot,
                rating=standing.rating,
                blocks=standing.blocks,
                ranked_from=ladder.ranked_from,
                version=standing.version,
                **fold.sums.bots[bot],
            )
            for bot, standing in fold.standings.items()
        ),
        update_conflicts=True,
        unique_fields=["ladder", "bot"],
        update_fields=["rating", "blocks", "version", "matches", "pairs", "half_wins", "points"],
    )
    hide_withdrawn(ladder)
    HeadToHead.objects.filter(ladder=ladder).delete()
    add_head_to_head(ladder, fold.sums)
