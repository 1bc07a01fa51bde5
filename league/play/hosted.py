"""Playing a match whose bots all run here: one task, in memory, stored in one transaction.

A worker leases the match first. One that dies leaves a lease that runs out; then the match is
played again, the same match, as all its luck comes from its seed. What comes in under an old
lease is dropped.
"""

import time
import uuid
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from engine.errors import MatchInterruptedError
from engine.referee import MatchClock, Outcome, Player, TimeControl, play
from league.models import Match, MatchSeat
from league.play import leases
from league.play.finishing import finish, void_match
from league.play.house import house_player

REQUEUE = timedelta(seconds=60)
MOST_QUEUED = 200
"""Matches handed to the queue at a time: enough for all workers, few to have twice in it."""

Seating = list[MatchSeat]


def play_match(match_id: int, *, players: Callable[[Seating], list[Player]] | None = None) -> bool:
    """Play a match that is due and store the result; return whether this call finished it.

    May be called any number of times, at once too: one caller gets the lease.

    Args:
        match_id: of the match.
        players: makes a player for each seat; by default those of the house.
    """
    lease = leases.take(match_id)
    if lease is None:
        return False
    match = Match.objects.get(pk=match_id)
    seating = list(match.seating.select_related("bot", "version").order_by("seat"))
    control = TimeControl(match.move_seconds, match.bank_seconds)
    try:
        with leases.kept(match_id, lease):
            outcome = play(
                match.game,
                match.rules,
                bytes(match.deal_seed),
                (players or _house_players)(seating),
                names=[seat.bot.name for seat in seating],
                clock=MatchClock(control, match.seats, time.monotonic),
            )
    except MatchInterruptedError:
        leases.give_back(match_id, lease)
        return False
    return _finish(match_id, lease, outcome)


def requeue_all() -> None:
    """Have all matches that wait for a worker queued again: the queue has lost them."""
    Match.objects.filter(status=Match.Status.WAITING).update(due_at=timezone.now())


def take_due() -> list[int]:
    """Return the ids of matches to queue now, and don't return them again for a while.

    What was queued and not played in `REQUEUE` is due again: the queue may have lost it. A match
    that has been tried too often voids its block instead.
    """
    now = timezone.now()
    unfinished = Match.objects.filter(status__in=["waiting", "playing"], live=False)
    room = MOST_QUEUED - unfinished.filter(due_at__gt=now).count()
    if room <= 0:
        return []
    with transaction.atomic():
        due = list(
            unfinished.filter(due_at__lte=now)
            .order_by("due_at", "id")
            .select_for_update(skip_locked=True, of=("self",))[:room]
        )
        Match.objects.filter(pk__in=[match.pk for match in due]).update(due_at=now + REQUEUE)
    tried_out = [match for match in due if match.attempts >= leases.MOST_ATTEMPTS]
    for match in tried_out:
        void_match(match)
    return [match.pk for match in due if match not in tried_out]


def _house_players(seating: Seating) -> list[Player]:
    return [house_player(seat) for seat in seating]


def _finish(match_id: int, lease: uuid.UUID, outcome: Outcome) -> bool:
    """Store a result, unless the lease is no longer ours."""
    with transaction.atomic():
        match = Match.objects.select_for_update(of=("self",)).get(pk=match_id)
        if match.lease != lease or match.status != Match.Status.PLAYING:
            return False
        finish(match, outcome.record, outcome.forfeited, timezone.now())
    return True
