"""Make blocks void, have them played again, and take that back.

A block that is played again becomes void, and a new round with one block of the same bots takes
its place. It has another seed, because the cards of the old block are public. In a knockout an
organiser may have the later stages played again too. Their rounds are then *superseded*: void, and
the tournament draws these stages again.
"""

import secrets
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import capfirst

from engine.deals import SEED_BYTES
from engine.pairing import Table
from league import competitions, ratings
from league.models import (
    Block,
    Bot,
    Ladder,
    ModerationEntry,
    Round,
    Tournament,
    TournamentEntry,
    VoidMark,
)
from league.moderation.log import Action, note
from league.moderation.seen import state_of_block
from league.ratings.void_marks import can_be_restored, is_void, newest_mark, take_mark_back


class LaterStages(StrEnum):
    """What becomes of a knockout's later stages if a block is played again."""

    KEEP = "keep"
    AGAIN = "again"


def void_block(
    *, block: Block, reason: str, made_by: User | None, seen: str = ""
) -> ModerationEntry:
    """Make a block void: it changes no rating and gives no result. What came after it stays.

    Args:
        block: one that counts.
        reason: public.
        made_by: the organiser.
        seen: the state in the preview that the organiser saw; "" states none.

    Raises:
        ValidationError: by field: the reason is empty. Or with a code: it is void already
            (``block-void``), or its state is not ``seen`` any more (``changed-meanwhile``).
    """
    with transaction.atomic():
        _lock_as_seen(block, seen)
        decision = _note(Action.VOID_BLOCK, block, reason, made_by)
        _void(block, reason, decision)
    return decision


def play_again(
    *,
    block: Block,
    reason: str,
    made_by: User | None,
    later_stages: LaterStages = LaterStages.KEEP,
    seen: str = "",
) -> Block:
    """Make a block void and open the block that takes its place; return the new block.

    Args:
        block: any block that counts, or a void one.
        reason: public.
        made_by: the organiser.
        later_stages: in a knockout, whether later stages are played again too.
        seen: as for `void_block`.

    Raises:
        ValidationError: by field: the reason is empty, or ``later_stages`` does not fit the block.
            Or with a code: it can't be played again now (``block-not-replayable``), or its state
            is not ``seen`` any more (``changed-meanwhile``).
    """
    if not reason.strip():
        raise ValidationError({"reason": "Give a reason; it is public."})
    with transaction.atomic():
        block = _lock_as_seen(block, seen)
        ladder = block.round.ladder
        check_replay(block, later_stages)
        again = later_stages == LaterStages.AGAIN
        decision = _note(
            Action.REPLAY_BLOCK,
            block,
            reason,
            made_by,
            later_stages=str(later_stages),
            left_after=_move_departures(block) if again else {},
        )
        _void_for_replay(block, reason, decision)
        if again:
            for later in later_rounds(block):
                _supersede(later, reason, decision)
        round_ = competitions.open_round(
            ladder=ladder,
            tables=[Table(tuple(sorted(bots_of(block))), block.rated)],
            seed=secrets.token_bytes(SEED_BYTES),
            tournament=block.round.tournament,
            stage=block.round.stage,
            extra=block.round.extra,
            replaces=block,
        )
        _reopen(block.round.tournament_id)
    return round_.blocks.get()


def restore_block(
    *, block: Block, reason: str, made_by: User | None, seen: str = ""
) -> ModerationEntry:
    """Let a void block count again, with the same rating changes as before.

    A block that was played again in its place becomes void, and so do the extra blocks and the
    rounds of later stages that were drawn since; the superseded rounds count again.

    Raises:
        ValidationError: with a code: no organiser made it void, or another block counts in its
            place (both ``block-not-void``), it was not played to its end (``block-unfinished``), or
            its state is not ``seen`` any more (``changed-meanwhile``).
    """
    with transaction.atomic():
        block = _lock_as_seen(block, seen)
        mark = check_restore(block)
        decision = _note(Action.RESTORE_BLOCK, block, reason, made_by)
        text = reason.strip() or f"{capfirst(str(block))} counts again."
        for replacement in counting_replacements(block):
            _void(replacement, text, decision)
        drawn_since, before = stages_to_exchange(block, mark)
        marked_blocks = marked_with(mark, before)
        for round_ in drawn_since:
            _supersede(round_, text, decision)
        if mark.decision is not None:
            back = Round.objects.filter(pk__in=[round_.pk for round_ in before])
            if back.update(superseded_by=None):
                _reopen(block.round.tournament_id)
            _move_departures_back(mark.decision)
        for marked in marked_blocks:
            take_mark_back(block=marked, reason=text, made_by=made_by, decision=decision)
    return decision


def check_replay(block: Block, later_stages: LaterStages) -> None:
    """Raise if a block can't be played again now, as `play_again`."""
    tournament = block.round.tournament
    is_knockout = tournament is not None and tournament.format == Tournament.Format.KNOCKOUT
    if later_stages == LaterStages.AGAIN and not is_knockout:
        raise ValidationError(
            {
                "later_stages": f"{capfirst(str(block))} is not part of a knockout, so there are "
                "no later stages to play again. Leave later_stages out, or set it to keep."
            }
        )
    if block.round.superseded_by_id is not None:
        raise _not_replayable(block, "its stage is already being played again")
    if tournament is not None and tournament.state == Tournament.State.CANCELLED:
        raise _not_replayable(block, f"{tournament} is cancelled; take that back first")
    for replacement in counting_replacements(block):
        raise _not_replayable(block, f"{replacement} already replaces it")
    for other in _others_that_count(block):
        raise _not_replayable(block, f"{other} counts in its place")
    bots = Bot.objects.filter(pk__in=bots_of(block)).order_by("name")
    able = set(Bot.objects.playable().online().filter(pk__in=bots).values_list("pk", flat=True))
    away = [bot.name for bot in bots if bot.pk not in able]
    if away:
        names = ", ".join(away)
        raise _not_replayable(
            block, f"{names} can't play now (paused, in quarantine, offline or without a version)"
        )


def check_restore(block: Block) -> VoidMark:
    """Return the void mark to take back, or raise, as `restore_block`."""
    mark = newest_mark(block)
    if mark is None or mark.takes_back:
        raise ValidationError(
            f"No organiser made {block} void, so there is nothing to take back.",
            code="block-not-void",
        )
    if not can_be_restored(block):
        raise ValidationError(
            f"{capfirst(str(block))} was not played to its end, and its cards may be known by "
            "now. It can't count again; have it played again instead.",
            code="block-unfinished",
        )
    if block.round.superseded_by_id is not None:
        raise ValidationError(
            f"{capfirst(str(block))} belongs to a stage that is played again{_because(block)}.",
            code="block-not-void",
        )
    for other in _others_that_count(block):
        raise ValidationError(
            f"{capfirst(str(other))} counts in place of {block}, and only one of them can count. "
            f"Make {other} void first.",
            code="block-not-void",
        )
    return mark


def counting_replacements(block: Block) -> list[Block]:
    """Return the replays of a block that count; also the replays of its replays."""
    found: list[Block] = []
    level = [block.pk]
    while level:
        rows = Block.objects.filter(replaces__in=level).select_related("round__ladder")
        replacements = list(rows.order_by("pk"))
        found += replacements
        level = [each.pk for each in replacements]
    return [each for each in found if not is_void(each)]


def _others_that_count(block: Block) -> list[Block]:
    """Return the other blocks of a table that count: neither a block itself nor its replays."""
    first = block
    while first.replaces is not None:
        first = first.replaces
    own = {block.pk, *(each.pk for each in counting_replacements(block))}
    counting = counting_replacements(first)
    if not is_void(first):
        counting.insert(0, first)
    return [each for each in counting if each.pk not in own]


def _because(block: Block) -> str:
    """Return for which block a superseded stage is played again, and what to do, as words."""
    decision = block.round.superseded_by
    if decision is None or decision.block is None:
        return ""
    return (
        f" because of {decision.block}. To make {block} count again, take back the decision on "
        f"{decision.block}"
    )


def later_rounds(block: Block) -> list[Round]:
    """Return the rounds of the stages after a block's stage that count for the tournament."""
    of = block.round
    if of.tournament_id is None or of.stage is None:
        return []
    rounds = Round.objects.filter(tournament=of.tournament_id, stage__gt=of.stage)
    return list(rounds.filter(superseded_by=None).select_related("ladder").order_by("number"))


def stages_to_exchange(block: Block, mark: VoidMark) -> tuple[list[Round], list[Round]]:
    """Return the rounds that become void, and those that count again, with a block's mark.

    If the mark's decision superseded rounds, these count again. The rounds of later stages and the
    extra blocks of the block's own stage that were drawn since become void. Both are empty if
    later stages count that are older: then another decision that was taken back brought them back.
    """
    if mark.decision is None:
        return [], []
    before = list(mark.decision.rounds_superseded.order_by("number"))
    if not before:
        return [], []
    later, newest = later_rounds(block), before[-1].number
    if any(round_.number < newest for round_ in later):
        return [], []
    of = block.round
    same_stage = Round.objects.filter(tournament=of.tournament_id, stage=of.stage, extra__gt=0)
    extra = same_stage.filter(superseded_by=None, replays=None, number__gt=newest)
    return [*extra.select_related("ladder").order_by("number"), *later], before


def marked_with(mark: VoidMark, back: Sequence[Round]) -> list[Block]:
    """Return the blocks that a mark's decision made void and that can count again.

    Those of superseded rounds are left out, but for the rounds that come back.
    """
    if mark.decision_id is None:
        return [mark.block]
    marks = VoidMark.objects.newest().filter(decision=mark.decision_id, takes_back=False)
    counts = Q(block__round__superseded_by=None) | Q(block__round__in=back)
    rows = marks.filter(counts).select_related("block__round__ladder").order_by("pk")
    return [each.block for each in rows if can_be_restored(each.block)]


def lock_ladder(block: Block) -> Ladder:
    """Lock the ladder of a block; under its lock no round is drawn or applied."""
    return Ladder.objects.select_for_update().get(rounds__blocks=block.pk)


def _lock_as_seen(block: Block, seen: str) -> Block:
    """Lock the ladder of a block; return the block as it is now, or raise if it has changed."""
    lock_ladder(block)
    now = Block.objects.select_related("round__tournament", "round__ladder").get(pk=block.pk)
    state_of_block(now).require(seen)
    return now


def bots_of(block: Block) -> list[int]:
    """Return the ids of the bots at a block's table."""
    return list(block.bots.values_list("bot", flat=True))


def _void(block: Block, reason: str, decision: ModerationEntry) -> None:
    ratings.mark_void(block_id=block.pk, reason=reason, made_by=decision.made_by, decision=decision)


def _void_for_replay(block: Block, reason: str, decision: ModerationEntry) -> None:
    """Mark a block as void by a decision, also if it was void before.

    `restore_block` takes back only the newest mark of a block, and the decision of that mark. So a
    block that was void before needs a mark of this decision too.
    """
    if not is_void(block):
        _void(block, reason, decision)
    elif newest_mark(block) is not None:
        VoidMark.objects.create(
            block=block, reason=reason.strip(), made_by=decision.made_by, decision=decision
        )
        Block.objects.filter(pk=block.pk).update(void_reason=reason.strip())


def _supersede(round_: Round, reason: str, decision: ModerationEntry) -> None:
    """Leave a round out of its tournament and make its blocks void."""
    Round.objects.filter(pk=round_.pk).update(superseded_by=decision)
    for block in round_.blocks.select_related("round__ladder").order_by("number"):
        if not is_void(block):
            _void(block, reason, decision)


def _move_departures(block: Block) -> dict[str, int]:
    """Let bots that left during superseded stages have left at the block's stage.

    Otherwise the stages that are drawn again would draw them.

    Returns:
        By entry, the number of rounds that is stored for it before, for the way back.
    """
    left = TournamentEntry.objects.filter(
        tournament=block.round.tournament_id, left_after__gt=block.round.stage
    )
    before = {str(entry.pk): entry.left_after or 0 for entry in left}
    left.update(left_after=block.round.stage)
    return before


def _move_departures_back(decision: ModerationEntry) -> None:
    for entry, left_after in decision.details.get("left_after", {}).items():
        left = TournamentEntry.objects.filter(pk=int(entry), left_after__isnull=False)
        left.update(left_after=left_after)


def _reopen(tournament_id: int | None) -> None:
    """Let a finished tournament run on, so that it plays what it lacks now."""
    if tournament_id is None:
        return
    Tournament.objects.filter(pk=tournament_id, state=Tournament.State.FINISHED).update(
        state=Tournament.State.RUNNING, finished_at=None, reopened_at=timezone.now()
    )


def _not_replayable(block: Block, why: str) -> ValidationError:
    return ValidationError(
        f"{capfirst(str(block))} can't be played again now: {why}.", code="block-not-replayable"
    )


def _note(
    action: Action, block: Block, reason: str, made_by: User | None, **details: Any
) -> ModerationEntry:
    return note(
        action,
        made_by=made_by,
        subject=block,
        reason=reason,
        block=block,
        tournament=block.round.tournament,
        **details,
    )
