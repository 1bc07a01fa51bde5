"""Clocks: when a turn's deadline is, and how much of the bank a turn uses.

A turn's clock starts when the turn is first handed out, or `GRACE` after it opened, whichever is
first. The turn then has the match's seconds for a move and, after them, the seat's bank.
`league.play.outages` moves deadlines after an outage, and `league.play.overdue_turns` plays once a
deadline has passed.
"""

import time
from datetime import datetime, timedelta

from league.play.rows import MatchRow, OpenTurn, TurnRow

GRACE = timedelta(seconds=2)


class Stopwatch:
    """A clock that runs from a given start, so that a test can start at any time.

    Attributes:
        start: the time at which it was started.
    """

    def __init__(self, now: datetime) -> None:
        self.start, self._since = now, time.monotonic()

    def now(self) -> datetime:
        """Return the start plus the time that has passed since."""
        return self.start + timedelta(seconds=time.monotonic() - self._since)


def latest_deadline(match: MatchRow, bank_ms: int, opened_at: datetime) -> datetime:
    """Return the deadline of a turn that its bot does not fetch."""
    return opened_at + GRACE + timedelta(seconds=match.move_seconds, milliseconds=bank_ms)


def deadline_if_handed_out(turn: OpenTurn, now: datetime) -> datetime:
    """Return the deadline of a turn that is handed out for the first time."""
    thinking = turn.deadline - turn.opened_at - GRACE
    return min(turn.deadline, now + thinking)


def remaining_ms(turn: TurnRow | OpenTurn, now: datetime) -> int:
    """Return the time until a turn's deadline, the bank included, in milliseconds."""
    return max(0, (turn.deadline - now) // timedelta(milliseconds=1))


def bank_after(turn: TurnRow) -> int:
    """Return the rest of its seat's bank after a decided turn, in milliseconds."""
    if turn.decided_at is None:
        return turn.bank_ms
    return max(0, min(turn.bank_ms, remaining_ms(turn, turn.decided_at)))


def full_bank(match: MatchRow) -> int:
    """Return the bank with which a seat begins, in milliseconds."""
    return round(match.bank_seconds * 1000)
