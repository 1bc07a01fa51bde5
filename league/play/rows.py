"""Rows of live matches as plain values.

Each move reads and writes a dozen of them; making models of them took most of its time. Their
fields are named as those of the models.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(slots=True)
class MatchRow:
    """What a match in play needs of `league.models.Match`."""

    pk: int
    game: str
    rules: str
    seats: int
    deal_seed: bytes | memoryview
    plies: int
    attempts: int
    move_seconds: float = 0.0
    bank_seconds: float = 0.0
    status: str = ""
    stored: int = 0
    due_at: datetime | None = None


@dataclass(slots=True)
class TurnRow:
    """What the clock and the verdict need of a `league.models.Turn`."""

    pk: int
    match_id: int
    seat: int
    bot_id: int
    number: int
    ply: int
    deadline: datetime
    bank_ms: int
    illegal_answers: int = 0
    decided_at: datetime | None = None
    text: str = ""
    fault: str = ""
    opened_at: datetime | None = None
    handed_out_at: datetime | None = None


@dataclass(slots=True)
class MoveRow:
    """A `league.models.LiveMove`."""

    match_id: int
    ply: int
    seat: int
    text: str
    fault: str
