"""Queue a match again and let a void match wait again, for an operator's decisions."""

from collections.abc import Collection
from datetime import datetime

from league.models import Match


def requeue(match: Match, now: datetime) -> None:
    """Let the next tick queue an unfinished match, whatever it waits for now.

    A hosted match loses its lease: its worker stops at the next move, and the match is played from
    its start with the same deal. A live match goes on from its log.

    Args:
        match: unfinished; the caller holds its lock.
        now: the time.
    """
    match.due_at, match.queued_at = now, None
    if not match.live:
        match.status = Match.Status.WAITING
        match.lease = match.leased_until = None
    match.save(update_fields=["due_at", "queued_at", "status", "lease", "leased_until"])


def restore_void(match_ids: Collection[int], now: datetime) -> int:
    """Let void hosted matches wait to be played; return their number.

    Nobody has seen their cards, because a hosted match shows nothing before it is finished. Failed
    attempts count from 0 again.
    """
    void = Match.objects.hosted().void().filter(pk__in=match_ids)
    return void.update(
        status=Match.Status.WAITING,
        void_reason="",
        due_at=now,
        queued_at=None,
        failures=0,
        losses=0,
    )
