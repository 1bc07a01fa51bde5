"""Rows of live matches as plain values.

Each move reads and writes a dozen rows. Making model instances of them took most of a move's
time. The fields have the names of the models' fields and the order of `league.play.statements`.
"""

from datetime import datetime
from typing import NamedTuple


class MatchRow(NamedTuple):
    """The fields of `league.models.Match` that a match in play needs."""

    pk: int
    game: str
    rules: str
    seats: int
    deal_seed: bytes
    plies: int
    attempts: int
    move_seconds: float
    bank_seconds: float
    status: str
    stored: int
    due_at: datetime


class DealtMatch(NamedTuple):
    """The fields of `league.models.Match` from which its log is replayed."""

    pk: int
    game: str
    rules: str
    seats: int
    deal_seed: bytes
    plies: int
    attempts: int


class TurnRow(NamedTuple):
    """The fields of a `league.models.Turn` that a decision needs."""

    pk: int
    match_id: int
    seat: int
    bot_id: int
    number: int
    ply: int
    deadline: datetime
    bank_ms: int
    illegal_answers: int
    decided_at: datetime | None
    text: str
    fault: str


class OpenTurn(NamedTuple):
    """The fields of an open `league.models.Turn`; ``pk`` is 0 if it is not stored yet."""

    pk: int
    match_id: int
    seat: int
    bot_id: int
    number: int
    ply: int
    deadline: datetime
    bank_ms: int
    opened_at: datetime
    handed_out_at: datetime | None


class MoveRow(NamedTuple):
    """The fields of a `league.models.LiveMove`."""

    match_id: int
    ply: int
    seat: int
    text: str
    fault: str


class SeatRow(NamedTuple):
    """A seat of a live match.

    Attributes:
        bot_id: id of its bot.
        remote: whether the API hands out its turns: to a remote bot, or to a player.
        player: whether a player sits there, who has not left.
    """

    bot_id: int
    remote: bool
    player: bool = False


class Snapshot(NamedTuple):
    """A live match as one statement read it.

    Attributes:
        match: in play or not.
        seats: by number.
        turns: the last turn of each seat that has had one.
        chosen: by seat, the moves that wait for the last of their phase.
    """

    match: MatchRow
    seats: list[SeatRow]
    turns: dict[int, TurnRow]
    chosen: dict[int, MoveRow]
