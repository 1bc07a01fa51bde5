"""Queue a match again, cancel it, and take a cancellation back: decisions of operators."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import capfirst

from league import play
from league.models import Bot, Match, MatchSeat, ModerationEntry
from league.moderation.blocks import void_block
from league.moderation.log import Action, note
from league.moderation.previews import Preview, preview_void
from league.moderation.seen import SeenState

_ACTIONS = (Action.REQUEUE_MATCH, Action.CANCEL_MATCH, Action.RESTORE_MATCH)


def state_of_match(match: Match) -> SeenState:
    """Return the state of a match: a match that waits or is in play is ``unfinished``."""
    newest = _decisions(match).values_list("pk", flat=True).first()
    state = "unfinished" if match.is_unfinished else str(match.status)
    return SeenState(str(match), state, match.void_reason, newest)


def requeue_match(
    *, match: Match, reason: str = "", made_by: User | None, seen: str = ""
) -> ModerationEntry:
    """Let the next tick queue a match again, as `play.requeue`.

    Args:
        match: unfinished.
        reason: for the moderation log.
        made_by: the operator.
        seen: the state in the preview that the operator saw; "" states none.

    Raises:
        ValidationError: with a code: the match is over (``match-over``), or its state is not
            ``seen`` any more (``changed-meanwhile``).
    """
    with transaction.atomic():
        stored = _lock_as_seen(match, seen)
        _require_unfinished(stored)
        play.requeue(stored, timezone.now())
        return _note(Action.REQUEUE_MATCH, stored, reason, made_by)


def cancel_match(
    *, match: Match, reason: str, made_by: User | None, seen: str = ""
) -> ModerationEntry:
    """Make a match void, and its block or challenge with it: a block counts only as a whole.

    Args:
        match: unfinished.
        reason: public.
        made_by: the operator.
        seen: as for `requeue_match`.

    Raises:
        ValidationError: by field: the reason is empty. Or with a code, as `requeue_match`.
    """
    if not reason.strip():
        raise ValidationError({"reason": "Give a reason; it is public."})
    if match.block is not None:
        # The ladder's lock comes before the match's.
        _require_unfinished(match)
        state_of_match(match).require(seen)
        return void_block(block=match.block, reason=reason, made_by=made_by)
    with transaction.atomic():
        stored = _lock_as_seen(match, seen)
        _require_unfinished(stored)
        together = list(_together(stored).values_list("pk", flat=True))
        play.void_match(stored, reason)
        return _note(Action.CANCEL_MATCH, stored, reason, made_by, matches=together)


def restore_match(
    *, match: Match, reason: str = "", made_by: User | None, seen: str = ""
) -> ModerationEntry:
    """Take a cancellation back: the match waits to be played, with the rest of its challenge.

    Raises:
        ValidationError: with a code: it can't be taken back (``match-not-restorable``), or the
            match's state is not ``seen`` any more (``changed-meanwhile``).
    """
    with transaction.atomic():
        stored = _lock_as_seen(match, seen)
        decision = _cancellation(stored)
        play.restore_void(decision.details["matches"], timezone.now())
        return _note(Action.RESTORE_MATCH, stored, reason, made_by)


def preview_requeue(match: Match) -> Preview:
    """Return the effect of `requeue_match`, or raise as it does."""
    _require_unfinished(match)
    if match.live:
        note = "A worker takes over the match at once. Its moves and clocks stay as they are."
    elif match.status == Match.Status.PLAYING:
        note = (
            "The worker that plays the match stops, and another one plays it from the start, with "
            "the same deal."
        )
    else:
        note = "The match is queued within a second, without the pause after a failed attempt."
    return _preview(Action.REQUEUE_MATCH, match, note)


def preview_cancellation_of_match(match: Match) -> Preview:
    """Return the effect of `cancel_match`, or raise as it does."""
    _require_unfinished(match)
    if match.block is not None:
        void = preview_void(match.block)
        first = f"{capfirst(str(match.block))} becomes void, with all its matches."
        return Preview(
            action=str(Action.VOID_BLOCK),
            subject=str(match.block),
            ratings=void.ratings,
            places=void.places,
            advancing=void.advancing,
            notes=[first, *void.notes],
            seen=str(state_of_match(match)),
        )
    notes = ["The match is void. It changes no rating."]
    if match.challenge is not None:
        notes = ["All matches of the challenge that are not finished become void."]
    elif match.swap_block is not None:
        notes.append("The comparison plays another swap block instead.")
    notes.append(
        "You can't take it back: bots have seen their cards."
        if match.live
        else "You can't take it back."
        if match.swap_block is not None
        else "You can take it back."
    )
    return _preview(Action.CANCEL_MATCH, match, *notes)


def preview_return_of_match(match: Match) -> Preview:
    """Return the effect of `restore_match`, or raise as it does."""
    matches = _cancellation(match).details["matches"]
    note = "The match waits to be played again with its deal."
    if matches[1:]:
        note = f"{len(matches)} matches of the challenge wait to be played again with their deal."
    return _preview(Action.RESTORE_MATCH, match, note)


def _cancellation(match: Match) -> ModerationEntry:
    """Return the decision that made a match void, or raise as `restore_match`."""
    decision = ModerationEntry.objects.filter(
        action=Action.CANCEL_MATCH, details__matches__contains=[match.pk]
    ).first()
    if match.status != Match.Status.VOID or match.live or match.swap_block_id is not None:
        decision = None
    if decision is None:
        raise ValidationError(
            f"{capfirst(str(match))} can't be played again. You can take back the cancellation of "
            "a match only if the match has no remote bot and no player. Also, the match must not "
            "belong to a block or a comparison.",
            code="match-not-restorable",
        )
    hosted = MatchSeat.objects.filter(
        match__in=decision.details["matches"], bot__kind=Bot.Kind.HOSTED
    )
    if erased := hosted.filter(version__source=None).values_list("bot__name", flat=True).first():
        raise ValidationError(
            f"{capfirst(str(match))} can't be played again: the bot {erased} was deleted, and its "
            "files were erased.",
            code="match-not-restorable",
        )
    return decision


def _together(match: Match) -> QuerySet[Match]:
    """Return the unfinished matches that become void with a match outside blocks."""
    of_it = {"challenge": match.challenge_id} if match.challenge_id else {"pk": match.pk}
    return Match.objects.unfinished().filter(**of_it).order_by("pk")


def _require_unfinished(match: Match) -> None:
    if not match.is_unfinished:
        raise ValidationError(
            f"{capfirst(str(match))} is {match.status}, so there is nothing to do.",
            code="match-over",
        )


def _lock_as_seen(match: Match, seen: str) -> Match:
    """Lock a match, and the rest of its challenge; return it, or raise if it has changed."""
    of_it = {"challenge": match.challenge_id} if match.challenge_id else {"pk": match.pk}
    rows = Match.objects.filter(**of_it).order_by("pk").select_for_update(of=("self",))
    stored = {row.pk: row for row in rows}[match.pk]
    state_of_match(stored).require(seen)
    return stored


def _decisions(match: Match) -> QuerySet[ModerationEntry]:
    """Return the decisions about a match itself, the newest first."""
    return ModerationEntry.objects.filter(action__in=_ACTIONS, details__match=match.pk)


def _preview(action: Action, match: Match, *notes: str) -> Preview:
    seen = str(state_of_match(match))
    return Preview(action=str(action), subject=str(match), notes=list(notes), seen=seen)


def _note(
    action: Action, match: Match, reason: str, made_by: User | None, **details: Any
) -> ModerationEntry:
    return note(action, made_by=made_by, subject=match, reason=reason, match=match.pk, **details)
