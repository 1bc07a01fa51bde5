"""Corrections: a void mark is added, and the ladder is folded anew under the next revision.

So is who beats whom, under the same revision, where older versions have not kept it.
"""

from collections import deque

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from league import play
from league.models import (
    Block,
    Fit,
    HeadToHead,
    Ladder,
    PackedResults,
    Revision,
    Standing,
    VoidMark,
)
from league.ratings.alarms import lift_alarm
from league.ratings.applying import write_ledger
from league.ratings.fold import Fold
from league.ratings.hiding import hide_withdrawn
from league.ratings.match_results import forfeited_in
from league.ratings.tallies import add_head_to_head

_LOCK = 0x12_C0
"""Names, with a ladder's id, the lock that lets one correction of a ladder be made at a time."""


def void_block(*, block_id: int, reason: str, made_by: User | None = None) -> VoidMark:
    """Take a block out of the ratings for good, and say why.

    Where its round is rated already, `correct` folds the ladder anew at the next tick. What was
    rated until then stays in the ledger, under the older revision.

    Raises:
        ValidationError: there is no such block, no reason is given, or it is void already.
    """
    if not reason.strip():
        raise ValidationError("Say why: the reason is published with the mark.")
    with transaction.atomic():
        # The ladder first, as everywhere; under its lock no round is applied.
        ladder = Ladder.objects.select_for_update().filter(rounds__blocks=block_id).first()
        if ladder is None:
            raise ValidationError(f"There is no block {block_id}.")
        block = Block.objects.select_related("round").get(pk=block_id)
        if block.state == Block.State.VOID or VoidMark.objects.filter(block=block).exists():
            raise ValidationError(f"{block} is void already.")
        mark = VoidMark.objects.create(block=block, reason=reason.strip(), made_by=made_by)
        if block.round.applied_at is None:
            play.void_block(block.pk)
            # One that was played to the end meanwhile, and not rated yet.
            Block.objects.filter(pk=block.pk).update(state=Block.State.VOID)
    return mark


def marks_to_follow() -> QuerySet[VoidMark]:
    """Return the void marks whose blocks still count in the ratings."""
    return VoidMark.objects.filter(
        block__state=Block.State.FINISHED, block__round__applied_at__isnull=False
    )


def ladders_to_correct() -> list[int]:
    """Return the ids of ladders with void marks that their ratings don't follow yet."""
    return list(marks_to_follow().values_list("block__round__ladder", flat=True).distinct())


def correct(ladder_id: int, *, reason: str = "") -> Revision | None:
    """Fold a ladder anew without the blocks marked void; return the revision, if one was made.

    All is one transaction: until it is committed everybody sees the old ratings, and rounds go on
    being applied. Only for its end, with the rounds applied meanwhile, it takes the ladder's lock.

    Args:
        ladder_id: of the ladder. While another corrects it, nothing is done.
        reason: to make a revision from the first round on, whether there are marks or not; this
            also puts right whatever `recompute` finds.

    Raises:
        DamagedError: a record of a block that is not void can't be read.
    """
    with transaction.atomic():
        if not _only_one(ladder_id):
            return None
        ladder = Ladder.objects.get(pk=ladder_id)
        marks = list(
            marks_to_follow()
            .filter(block__round__ladder=ladder)
            .select_related("block__round")
            .order_by("pk")
        )
        if not marks and not reason:
            return None
        void = frozenset(mark.block_id for mark in marks)
        first = 1 if reason else min(mark.block.round.number for mark in marks)
        number = ladder.revision + 1
        fold = Fold(ladder)
        _write_rounds(fold, first, number, void)
        ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
        _write_rounds(fold, first, number, void)
        Block.objects.filter(pk__in=void).update(state=Block.State.VOID)
        _replace_standings(fold)
        for match in {wrong.match for wrong in fold.wrong}:
            play.note_results(match, match.record, forfeited_in(match.record))
        # What performance is made of is packed again, and fitted, as after any round.
        PackedResults.objects.filter(round__ladder=ladder, round__number__gte=first).delete()
        Fit.objects.filter(round__ladder=ladder, round__number__gte=first).delete()
        ladder.revision = number
        ladder.save(update_fields=["revision"])
        if first == 1:  # else there may be older rows that differ
            lift_alarm(ladder)
        said = [
            f"Block {mark.block.number + 1} of round {mark.block.round.number} is void: "
            f"{mark.reason}"
            for mark in marks
        ]
        return Revision.objects.create(
            ladder=ladder,
            number=number,
            from_round=first,
            reason="\n".join(filter(None, [reason, *said])),
        )


def ladders_to_count() -> list[int]:
    """Return the ids of ladders where who beats whom does not tell of every match.

    Those are the ones with rounds from before it was kept.
    """
    told, due = (
        rows.objects.filter(ladder=OuterRef("pk")).values("ladder").annotate(sum=Sum("pairs"))
        for rows in (HeadToHead, Standing)
    )
    counted = Ladder.objects.annotate(
        told=Coalesce(Subquery(told.values("sum")), 0), due=Coalesce(Subquery(due.values("sum")), 0)
    )
    return list(counted.exclude(told=F("due")).values_list("pk", flat=True))


def count_head_to_head(ladder_id: int) -> bool:
    """Count who beats whom from the records, if that is to be done; return whether it was.

    Ratings and their revision stay. As with `correct` it is one transaction, and rounds go on
    being applied.
    """
    with transaction.atomic():
        if ladder_id not in ladders_to_count() or not _only_one(ladder_id):
            return False
        fold = Fold(Ladder.objects.get(pk=ladder_id))
        deque(fold.go_on(), maxlen=0)  # for what it adds up to
        Ladder.objects.select_for_update().get(pk=ladder_id)
        deque(fold.go_on(), maxlen=0)
        _replace_head_to_head(fold)
    return True


def _only_one(ladder_id: int) -> bool:
    """Return whether nobody else corrects this ladder, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s::int)", [_LOCK, ladder_id % 2**31])
        return bool(cursor.fetchone()[0])


def _write_rounds(fold: Fold, first: int, revision: int, void: frozenset[int]) -> None:
    for round_, applied in fold.go_on(void=void):
        if round_.number >= first:
            write_ledger(round_, applied, revision)


def _replace_standings(fold: Fold) -> None:
    """Store what the fold came to; bots that no block rates any more leave the ladder."""
    ladder = fold.ladder
    ladder.standings.exclude(bot__in=fold.standings).delete()
    Standing.objects.bulk_create(
        (
            Standing(
                ladder=ladder,
                bot_id=bot,
                rating=standing.rating,
                blocks=standing.blocks,
                version=standing.version,
                **fold.sums.bots[bot],
            )
            for bot, standing in fold.standings.items()
        ),
        update_conflicts=True,
        unique_fields=["ladder", "bot"],
        update_fields=["rating", "blocks", "version", "matches", "pairs", "half_wins", "points"],
    )
    hide_withdrawn(fold.ladder)
    _replace_head_to_head(fold)


def _replace_head_to_head(fold: Fold) -> None:
    HeadToHead.objects.filter(ladder=fold.ladder).delete()
    add_head_to_head(fold.ladder, fold.sums)
