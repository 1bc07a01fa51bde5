"""Finished matches as steps, from their records."""

from collections.abc import Iterator, Sequence

from engine import playback
from engine.playback import play_back, with_places
from engine.rating.results import places_of
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
    for ply, events, _ in phases_as_rated(record):
        phases.append(Phase(events, faults_of(record, begins_at, ply)))
        begins_at = ply
    return build(phases, names).done


def phases_as_rated(record: Record) -> Iterator[playback.Phase]:
    """Play a record back; at the end of the match a seat that forfeited is last, as in lists."""
    places = places_of(record)
    for phase in play_back(record):
        yield phase._replace(events=with_places(phase.events, places))


def faults_of(record: Record, begins_at: int, ends_at: int) -> list[tuple[int, str]]:
    """Return seat and kind of each fault among some moves: from one ply to before another."""
    return [(f.seat, f.kind) for f in record.faults if begins_at <= f.ply < ends_at]
