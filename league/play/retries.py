"""Retries: what follows an attempt to play a hosted match that ended without a result.

A *loss* comes from outside: the worker, the process or, at a live match, the sandbox was killed, or
the database was away. A *failure* is the match's own: playing it raised an exception, or crashed
its process. Both are followed by a pause that grows, unless the match is live. After a failure, or
after two losses, the match is played alone, in its own process (`league.play.alone`). After
`MAX_FAILURES` failures or `MAX_LOSSES` losses the match is void, and its block.
"""

import uuid
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.utils import timezone

from league.models import Match
from league.play.finishing import void_match

log = structlog.get_logger(__name__)

MAX_FAILURES = 3
MAX_LOSSES = 12
"""Losses after which a match is void all the same: its last ten attempts were alone."""
ALONE_AFTER_LOSSES = 2
FIRST_PAUSE, MAX_PAUSE = timedelta(seconds=5), timedelta(minutes=5)


def pause_after(number: int) -> timedelta:
    """Return the pause after an attempt by its number among losses or failures, from 1."""
    return min(MAX_PAUSE, FIRST_PAUSE * int(3 ** min(number - 1, 9)))


def is_played_alone(match: Match) -> bool:
    """Return whether the next attempt has its own process."""
    return match.failures > 0 or match.losses >= ALONE_AFTER_LOSSES


def count_loss(match: Match, now: datetime) -> None:
    """Count a loss of a match whose lock is held; the first loss is followed by no pause."""
    match.losses += 1
    pause = pause_after(match.losses - 1) if match.losses > 1 else timedelta(0)
    _release(match, now + pause)
    log.warning("a match lost its worker or sandbox", match_id=match.pk, losses=match.losses)


def note_loss(match_id: int, lease: uuid.UUID | None = None) -> None:
    """Count a loss of a match, unless its lease was lost too; void the match after the last."""
    with transaction.atomic():
        match = _locked(match_id, lease)
        if match is not None:
            count_loss(match, timezone.now())
    if match is not None and match.losses >= MAX_LOSSES:
        void_lost(match)


def void_lost(match: Match) -> None:
    """Void a match that was lost `MAX_LOSSES` times."""
    void_match(
        match,
        f"The league could not play the match: its worker or sandbox broke {match.losses} times.",
    )


def note_failure(match_id: int, reason: str, lease: uuid.UUID | None = None) -> None:
    """Count a failure of a match; void the match after the last.

    Args:
        match_id: id of the match.
        reason: the cause in a few words; it is public, so it contains nothing of the deal.
        lease: under which the match was played; the failure of another lease does not count.
    """
    with transaction.atomic():
        match = _locked(match_id, lease)
        if match is None:
            return
        match.failures += 1
        _release(match, timezone.now() + pause_after(match.failures))
    log.warning(
        "a match could not be played",
        match_id=match_id,
        reason=reason,
        failure=match.failures,
        max_failures=MAX_FAILURES,
    )
    if match.failures >= MAX_FAILURES:
        void_match(
            match,
            f"The league could not play the match: it failed {match.failures} times. No bot gets a "
            f"fault for this. Last failure: {reason}.",
        )


def _locked(match_id: int, lease: uuid.UUID | None) -> Match | None:
    """Return an unfinished match under its lock, None if it is over or has another lease."""
    unfinished = Match.objects.unfinished().select_for_update(of=("self",)).filter(pk=match_id)
    return (unfinished if lease is None else unfinished.filter(lease=lease)).first()


def _release(match: Match, due_at: datetime) -> None:
    """Store the counts of a match whose lock is held, and let it wait until a time.

    A live match has no lease, and goes on at its last move.
    """
    if match.live:
        match.save(update_fields=["failures", "losses"])
        return
    match.status = Match.Status.WAITING
    match.lease = match.leased_until = match.queued_at = None
    match.due_at = due_at
    match.save(
        update_fields=[
            *("status", "lease", "leased_until", "queued_at", "due_at"),
            *("failures", "losses"),
        ]
    )
