"""Clocks: when a turn's deadline is, and how much of the bank a turn uses.

A turn's clock starts when the turn is first handed out, or `GRACE` after it opened, whichever is
first. The turn then has the match's seconds for a move and, after them, the seat's bank. Time that
the league lost meanwhile is given back (`league.play.outages`). So each receipt contains the sum::

    started  = min(handed_out_at, opened_at + 2 s)
    deadline = started + move_seconds + bank_ms + given_back_ms

All times of receipts are whole milliseconds, so the sum is exact. `league.play.overdue_turns` plays
once a deadline has passed.
"""

import time
from datetime import datetime, timedelta

from league.play.rows import MatchRow, OpenTurn, TurnRow

GRACE = timedelta(seconds=2)
MILLISECOND = timedelta(milliseconds=1)


class Stopwatch:
    """A clock in whole milliseconds that runs from a given start, so that tests can set it.

    Attributes:
        start: the time at which it was started.
    """

    def __init__(self, now: datetime) -> None:
        self.start, self._since = whole_ms(now), time.monotonic()

    def now(self) -> datetime:
        """Return the start plus the time that has passed since."""
        return whole_ms(self.start + timedelta(seconds=time.monotonic() - self._since))


def whole_ms(moment: datetime) -> datetime:
    """Return a time without the part below a millisecond, which receipts don't show."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def thinking_time(match: MatchRow, bank_ms: int) -> timedelta:
    """Return the time that a turn has from the start of its clock."""
    return timedelta(milliseconds=round(match.move_seconds * 1000) + bank_ms)


def latest_deadline(match: MatchRow, bank_ms: int, opened_at: datetime) -> datetime:
    """Return the deadline of a turn that its bot does not fetch."""
    return opened_at + GRACE + thinking_time(match, bank_ms)


def remaining_ms(turn: TurnRow | OpenTurn, now: datetime) -> int:
    """Return the time until a turn's deadline, the bank included, in milliseconds."""
    return max(0, (turn.deadline - now) // MILLISECOND)


def bank_after(turn: TurnRow) -> int:
    """Return the rest of its seat's bank after a decided turn, in milliseconds."""
    if turn.decided_at is None:
        return turn.bank_ms
    return max(0, min(turn.bank_ms, remaining_ms(turn, turn.decided_at)))


def full_bank(match: MatchRow) -> int:
    """Return the bank with which a seat begins, in milliseconds."""
    return round(match.bank_seconds * 1000)
