"""The clock rules of a turn, on its receipts (spec "Turns").

A turn's clock starts when it is first handed out, or `GRACE` after it opened, whichever is first.
It then has the match's seconds for a move, and after them the seat's bank.
"""

import time
from datetime import datetime, timedelta

from league.models import Match, Turn
from league.play.rows import MatchRow, TurnRow

GRACE = timedelta(seconds=2)


class Stopwatch:
    """Tells the time from a given start on, so that a test may start when it likes.

    Attributes:
        start: when it was started.
    """

    def __init__(self, now: datetime) -> None:
        self.start, self._since = now, time.monotonic()

    def now(self) -> datetime:
        """Return the start and what has passed since."""
        return self.start + timedelta(seconds=time.monotonic() - self._since)


def latest_deadline(match: Match | MatchRow, bank_ms: int, opened_at: datetime) -> datetime:
    """Return the deadline of a turn that nobody fetches."""
    return opened_at + GRACE + timedelta(seconds=match.move_seconds, milliseconds=bank_ms)


def deadline_if_handed_out(turn: Turn | TurnRow, now: datetime) -> datetime:
    """Return the deadline of a turn that is handed out for the first time."""
    thinking = turn.deadline - turn.opened_at - GRACE
    return min(turn.deadline, now + thinking)


def remaining_ms(turn: Turn | TurnRow, now: datetime) -> int:
    """Return what is left of a turn's clock, its bank included."""
    return max(0, (turn.deadline - now) // timedelta(milliseconds=1))


def bank_after(turn: Turn | TurnRow) -> int:
    """Return what a decided turn left of its seat's bank, in milliseconds."""
    if turn.decided_at is None:
        return turn.bank_ms
    return max(0, min(turn.bank_ms, remaining_ms(turn, turn.decided_at)))


def full_bank(match: Match | MatchRow) -> int:
    """Return what a seat begins with, in milliseconds."""
    return round(match.bank_seconds * 1000)
