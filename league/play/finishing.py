"""Finishing and voiding matches of every kind, and then their block.

All locks are taken in one order, matches (ascending) before their block, so that there are no
deadlocks.
"""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

import structlog
from django.db import transaction

from engine.rating.results import rated_places
from engine.record import Record
from league import durations
from league.models import Block, Match, Turn

log = structlog.get_logger(__name__)

_RESULTS = ("scores", "places", "forfeited", "faults")
MAX_REASON = 500
"""Most characters of the reason of a void match or block."""


def finish(match: Match, record: Record, forfeited: Collection[int], now: datetime) -> None:
    """Store the record of a match; if it is the last of its block, finish the block.

    Call it in a transaction that holds the match's lock.

    Args:
        match: in play until now.
        record: of the match.
        forfeited: the seats that had three faults.
        now: time of the end.
    """
    match.status = Match.Status.FINISHED
    match.lease = match.leased_until = None
    match.finished_at = now
    match.plies = len(record.moves)
    match.packed_record = Match.pack(record)
    block = None if match.block_id is None else _locked_block(match.block_id)
    if block is not None and block.deal_seed(match.number) == record.deal_seed:
        match.stored_seed = None
    _set_results(match, record, forfeited)
    match.save(
        update_fields=[
            *(
                "status",
                "lease",
                "leased_until",
                "finished_at",
                "plies",
                "packed_record",
                "stored_seed",
            ),
            *_RESULTS,
        ]
    )
    if match.started_at is not None:
        kind = "live" if match.live else "hosted"
        durations.note("match", (now - match.started_at).total_seconds(), match.game, kind)
    if block is not None:
        _finish_block(block)


def note_results(match: Match, record: Record, forfeited: Collection[int]) -> None:
    """Store each seat's result from the record; a second call changes nothing."""
    _set_results(match, record, forfeited)
    match.save(update_fields=_RESULTS)


def _set_results(match: Match, record: Record, forfeited: Collection[int]) -> None:
    seats = range(record.seats)
    faults = Counter(fault.seat for fault in record.faults)
    match.scores = list(record.scores)
    match.places = list(rated_places(record.places, forfeited))
    match.forfeited = [seat in forfeited for seat in seats] if forfeited else None
    match.faults = [faults[seat] for seat in seats] if faults else None


def _locked_block(block_id: int) -> Block:
    """Return a block with its round, under the block's lock.

    If the last two matches finish at once, the second waits here until the first is committed.
    """
    blocks = Block.objects.select_related("round").select_for_update(of=("self",))
    return blocks.get(pk=block_id)


def _finish_block(block: Block) -> None:
    """Finish a block whose lock is held, if all its matches are finished."""
    if block.state == Block.State.PLAYING and not block.matches.without_record().exists():
        block.state = Block.State.FINISHED
        block.save(update_fields=["state"])


def void_match(match: Match, reason: str = "") -> None:
    """Void a match that could not be played, and the rest of its block or challenge.

    Args:
        match: the match.
        reason: one line for pages, the API and the log.
    """
    if match.block_id is not None:
        void_unfinished_block(match.block_id, reason)
        return
    with transaction.atomic():
        of_it = {"challenge": match.challenge_id} if match.challenge_id else {"pk": match.pk}
        unfinished = Match.objects.unfinished().filter(**of_it).order_by("pk")
        _void(list(unfinished.select_for_update(of=("self",))), reason)


def void_unfinished_block(block_id: int, reason: str = "") -> None:
    """Void a block that is in play, with its unfinished matches; leave a finished block.

    Args:
        block_id: id of the block.
        reason: one line for pages, the API and the log.
    """
    with transaction.atomic():
        unfinished = Match.objects.unfinished().filter(block=block_id).order_by("pk")
        matches = list(unfinished.select_for_update(of=("self",)))
        block = Block.objects.select_for_update(of=("self",)).get(pk=block_id)
        if block.state == Block.State.PLAYING:
            block.state = Block.State.VOID
            block.void_reason = _shortened(reason)
            block.save(update_fields=["state", "void_reason"])
            _void(matches, reason)


def _void(matches: Collection[Match], reason: str) -> None:
    """Void matches whose locks are held, and delete their open turns."""
    ids = [match.pk for match in matches]
    Match.objects.filter(pk__in=ids).update(
        status=Match.Status.VOID, void_reason=_shortened(reason), lease=None, leased_until=None
    )
    Turn.objects.open().filter(match__in=ids).delete()
    blocks = sorted({match.block_id for match in matches if match.block_id is not None})
    transaction.on_commit(
        lambda: log.warning("matches are void", matches=ids, blocks=blocks, reason=reason)
    )


def _shortened(reason: str) -> str:
    """Return a reason that fits its column."""
    return " ".join(reason.split())[:MAX_REASON]
