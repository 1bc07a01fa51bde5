"""What the public may see of a match: never a hidden card before the end."""

from typing import Any

from engine.record import Record, replay, write
from league.models import Block, Match
from league.play.logs import logs_of


def is_open_to_all(match: Match) -> bool:
    """Return whether everything about a match may be known: its cards, its moves, its seed.

    The matches of a duplicate block have one deal, so none is open before all are played.
    """
    if match.status != Match.Status.FINISHED:
        return False
    block = match.block
    return block is None or not block.duplicate or block.state != Block.State.PLAYING


def public_view(match: Match) -> dict[str, Any] | None:
    """Return what a spectator sees of a match now, or None where nothing may be seen.

    Nothing is seen of a void match, whose cards may still be played, nor of one in a duplicate
    block that is still being played.
    """
    if match.status == Match.Status.FINISHED:
        if not is_open_to_all(match):
            return None
        record = match.record
        return replay(record, len(record.moves)).spectate()
    if match.status == Match.Status.VOID or (match.block and match.block.duplicate):
        return None
    log = logs_of([match]).get(match.pk)
    if log is None:  # it went on while we looked
        match.refresh_from_db()
        return public_view(match) if match.status != Match.Status.PLAYING else None
    return log.state.spectate()


def record_line(match: Match) -> str:
    """Return the record of a match that `is_open_to_all`, as it stands in a file of records."""
    record: Record = match.record
    return write(record)
