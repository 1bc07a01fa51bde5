"""Void marks: take blocks out of the ratings, and take that back.

A mark of a block whose round is applied changes nothing by itself: the next tick calls `correct`,
which folds the ladder anew. Only `league.moderation` calls these functions for organisers, because
it writes the moderation log.
"""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import capfirst

from league import play
from league.models import Block, Ladder, ModerationEntry, VoidMark


def mark_void(
    *,
    block_id: int,
    reason: str,
    made_by: User | None = None,
    decision: ModerationEntry | None = None,
) -> VoidMark:
    """Take a block out of the ratings, and publish the reason.

    If its round is applied already, the next tick calls `correct`. The old rating changes stay in
    the ledger, under the older revision.

    Raises:
        ValidationError: the reason is empty. Or with a code: the block does not exist
            (``not-found``), or it is void already (``block-void``).
    """
    if not reason.strip():
        raise ValidationError({"reason": "Give a reason; it is public."})
    with transaction.atomic():
        # Every transaction locks the ladder first; under its lock no round is applied.
        ladder = Ladder.objects.select_for_update().filter(rounds__blocks=block_id).first()
        if ladder is None:
            raise ValidationError(f"There is no block {block_id}.", code="not-found")
        block = Block.objects.select_related("round").get(pk=block_id)
        if is_void(block):
            raise ValidationError(f"{capfirst(str(block))} is void already.", code="block-void")
        mark = VoidMark.objects.create(
            block=block, reason=reason.strip(), made_by=made_by, decision=decision
        )
        if block.round.applied_at is None:
            play.void_unfinished_block(block.pk, mark.reason)
            # That leaves a finished block, which is void too, because its round is not applied.
            Block.objects.filter(pk=block.pk).update(state=Block.State.VOID)
        Block.objects.filter(pk=block.pk).update(void_reason=mark.reason)
    return mark


def take_mark_back(
    *, block: Block, reason: str, made_by: User | None = None, decision: ModerationEntry
) -> VoidMark:
    """Take the void mark of a block back, so that it counts again.

    Call it in a transaction that holds the ladder's lock, for a block that `can_be_restored`. If
    its round is applied already, the next tick calls `correct`, and the ratings are again the
    integers that they were before the mark.
    """
    mark = VoidMark.objects.create(
        block=block, takes_back=True, reason=reason.strip(), made_by=made_by, decision=decision
    )
    Block.objects.filter(pk=block.pk).update(void_reason="")
    if block.round.applied_at is None:
        Block.objects.filter(pk=block.pk).update(state=Block.State.FINISHED)
    return mark


def newest_mark(block: Block) -> VoidMark | None:
    """Return the mark of a block that counts; None if it never had one."""
    return block.void_marks.order_by("-pk").first()


def is_void(block: Block) -> bool:
    """Return whether a block is void, or will be once the ratings follow its newest mark."""
    mark = newest_mark(block)
    return block.state == Block.State.VOID if mark is None else not mark.takes_back


def can_be_restored(block: Block) -> bool:
    """Return whether all matches of a block are finished.

    The cards of an unfinished block are public once it is void, so it can't be played to its end.
    """
    return not block.matches.without_record().exists()
