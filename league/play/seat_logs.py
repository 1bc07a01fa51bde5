"""Seat logs: what hosted bots printed in a match and why they had faults, for their owners."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from engine.referee import Outcome
from league.bots.hosted_players import storable
from league.models import Match, SeatLog


class SeatNote(NamedTuple):
    """A note on one answer of a hosted bot.

    Attributes:
        match_id: id of the match.
        seat: number of the bot's seat.
        ply: of the answer.
        printed: everything that the bot has printed in the match.
        reason: why the answer is a fault; None if it is a move.
    """

    match_id: int
    seat: int
    ply: int
    printed: str
    reason: str | None


def store_notes(notes: Iterable[SeatNote]) -> None:
    """Add notes to the logs of seats in a live match."""
    for note in notes:
        log, _ = SeatLog.objects.get_or_create(match_id=note.match_id, seat=note.seat)
        if note.reason is not None:
            log.reasons[str(note.ply)] = storable(note.reason)
        log.printed = note.printed or log.printed
        log.save()


def store_logs(match: Match, outcome: Outcome, printed: Mapping[int, str]) -> None:
    """Store the logs of a hosted match that ended.

    Args:
        match: that was played.
        outcome: of the match.
        printed: what each hosted bot printed, by seat.
    """
    if not outcome.fault_reports and not any(printed.values()):
        return
    reasons: dict[int, dict[int, str]] = {}
    for report in outcome.fault_reports:
        of_seat = reasons.setdefault(report.fault.seat, {})
        of_seat[report.fault.ply] = storable(report.reason)
    SeatLog.objects.bulk_create(
        SeatLog(match=match, seat=seat, printed=text, reasons=reasons.get(seat, {}))
        for seat, text in sorted(printed.items())
        if text or seat in reasons
    )
