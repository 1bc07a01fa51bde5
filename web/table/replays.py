"""Finished matches as steps, from their records."""

from collections.abc import Sequence

from engine.playback import play_back
from engine.record import Record
from web.table.build import build
from web.table.steps import Phase, Step


def replay_steps(record: Record, names: Sequence[str]) -> list[Step]:
    """Return the steps of a match from a record that verifies; the last step shows the end.

    Args:
        record: of the match.
        names: of the bots, by seat.
    """
    phases = []
    begins_at = 0
    for ply, events, _ in play_back(record):
        phases.append(Phase(events, faults_of(record, begins_at, ply)))
        begins_at = ply
    return build(phases, names).done


def faults_of(record: Record, begins_at: int, ends_at: int) -> list[tuple[int, str]]:
    """Return seat and kind of each fault among some moves: from one ply to before another."""
    return [(f.seat, f.kind) for f in record.faults if begins_at <= f.ply < ends_at]
