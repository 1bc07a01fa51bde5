"""Finishing and voiding matches, however they were played, and what follows for their block.

Locks are always taken in one order, matches (ascending) before their block, so that nobody waits
for each other in a ring.
"""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from engine.rating.blocks import rated_places
from engine.record import Record
from league.models import Block, Match, Turn


def finish(match: Match, record: Record, forfeited: Collection[int], now: datetime) -> None:
    """Store the record of a match and finish its block, if this was the last of it.

    Call it in a transaction that holds the match's lock.

    Args:
        match: that was being played.
        record: of it.
        forfeited: the seats that had three faults.
        now: when it ended.
    """
    match.status = Match.Status.FINISHED
    match.lease = match.leased_until = None
    match.finished_at = now
    match.plies = len(record.moves)
    match.packed_record = Match.pack(record)
    match.save(
        update_fields=["status", "lease", "leased_until", "finished_at", "plies", "packed_record"]
    )
    note_results(match, record, forfeited)
    if match.block_id is not None:
        _finish_block(match.block_id)


def note_results(match: Match, record: Record, forfeited: Collection[int]) -> None:
    """Write beside a match's seats what its record gives them; again, and nothing changes."""
    places = rated_places(record.places, forfeited)
    for seat in match.seating.all():
        seat.score = record.scores[seat.seat]
        seat.place = places[seat.seat]
        seat.forfeited = seat.seat in forfeited
        seat.faults = sum(fault.seat == seat.seat for fault in record.faults)
        seat.save(update_fields=["score", "place", "forfeited", "faults"])


def _finish_block(block_id: int) -> None:
    # Of two last matches that finish at once, the second waits here and then sees the first.
    block = Block.objects.select_for_update(of=("self",)).get(pk=block_id)
    unfinished = block.matches.exclude(status=Match.Status.FINISHED)
    if block.state == Block.State.PLAYING and not unfinished.exists():
        block.state = Block.State.FINISHED
        block.save(update_fields=["state"])


def void_match(match: Match) -> None:
    """Give up a match that could not be played, and its block with it, if it has one."""
    if match.block_id is not None:
        void_block(match.block_id)
        return
    with transaction.atomic():
        _void(list(_unfinished().filter(pk=match.pk).select_for_update(of=("self",))))


def void_block(block_id: int) -> None:
    """Take a block out of the ratings with all its matches that are not finished."""
    with transaction.atomic():
        matches = list(
            _unfinished().filter(block=block_id).order_by("pk").select_for_update(of=("self",))
        )
        block = Block.objects.select_for_update(of=("self",)).get(pk=block_id)
        if block.state == Block.State.PLAYING:
            block.state = Block.State.VOID
            block.save(update_fields=["state"])
            _void(matches)


def _unfinished() -> QuerySet[Match]:
    return Match.objects.filter(status__in=[Match.Status.WAITING, Match.Status.PLAYING])


def _void(matches: Collection[Match]) -> None:
    """Void matches whose locks are held; turns that were open in them were never decided."""
    ids = [match.pk for match in matches]
    Match.objects.filter(pk__in=ids).update(status=Match.Status.VOID, lease=None, leased_until=None)
    Turn.objects.filter(match__in=ids, decided_at__isnull=True).delete()
