"""What the public may see of a match: never a hidden card before the end."""

from typing import Any

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.game import State
from engine.record import Record, replay, write
from league.models import Block, Match


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
    return _live_state(match).spectate()


def record_line(match: Match) -> str:
    """Return the record of a match that `is_open_to_all`, as it stands in a file of records."""
    record: Record = match.record
    return write(record)


def _live_state(match: Match) -> State:
    """Return a match in play as the log has it."""
    shuffle = seeded_shuffle(bytes(match.deal_seed))
    state = catalogue.start(match.game, match.rules, match.seats, shuffle)
    for seat, text in match.live_moves.order_by("ply").values_list("seat", "text"):
        state.step_unchecked({seat: state.moves.ids[text]})
    return state
