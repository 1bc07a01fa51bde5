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
        faults = [(f.seat, f.kind) for f in record.faults if begins_at <= f.ply < ply]
        phases.append(Phase(events, faults))
        begins_at = ply
    return build(phases, names).done
