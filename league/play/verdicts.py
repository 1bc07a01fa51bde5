"""Verdicts: the answers to a move, an acceptance or an error with a stable code."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.errors import IllegalMoveError
from engine.games import catalogue
from league.play.live_match import TIMEOUT
from league.play.rows import TurnRow
from league.play.turn_clocks import remaining_ms

MAX_ILLEGAL = 5
"""Illegal answers in one turn after which the referee plays."""
ANOTHER_PROGRAM = (
    "If this program did not send that move, another program runs with the same bot token. A new "
    "bot token ends that program."
)
"""The cause and the remedy if a bot's turn was decided by a move of its own."""
ILLEGAL = "illegal"
"""Kind of fault of a seat that has turns, beside `TIMEOUT`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a move that was accepted.

    Attributes:
        move: canonical text.
        turn: number of the seat's turns before this one.
        remaining_ms: rest of the turn's clock when the move came in, the bank included.
    """

    move: str
    turn: int
    remaining_ms: int

    def as_json(self) -> dict[str, Any]:
        """Return the answer of the API."""
        return {
            "status": "accepted",
            "move": self.move,
            "turn": self.turn,
            "remaining_ms": self.remaining_ms,
        }


class MoveRefusedError(Exception):
    """A move was not accepted; the message is one line for the bot's author.

    Attributes:
        code: ``not-found``, ``turn-not-open``, ``turn-already-decided``, ``turn-expired`` or
            ``illegal-move``.
        members: further members of the problem document, as JSON data. With
            ``turn-already-decided`` and ``turn-expired``: ``turn``, ``move``, the move that was
            played, and ``fault`` if the referee played it. With ``illegal-move``: ``legal_moves``,
            ``turn``, ``remaining_ms``, ``answers_left``, ``decided`` and, if that is true,
            ``fault`` and ``move``, the move that the referee played.
    """

    def __init__(self, code: str, detail: str, **members: Any) -> None:
        self.code = code
        self.members = members
        super().__init__(detail)


Answer = Verdict | MoveRefusedError


def accepted(turn: TurnRow, received_at: datetime) -> Verdict:
    """Return the verdict on the move that decided a turn."""
    return Verdict(turn.text, turn.number, remaining_ms(turn, received_at))


def decided_before(game: str, turn: TurnRow, text: str) -> Answer:
    """Return the answer for a turn that is decided.

    If the bot sends the same move again, this is the original verdict.
    """
    if turn.fault == TIMEOUT:
        return expired(turn)
    if not turn.fault and turn.decided_at and _canonical(game, text) == turn.text:
        return accepted(turn, turn.decided_at)
    who = "after illegal moves the referee played" if turn.fault else "you played"
    # Two programs with one token both get each turn, so the slower one ends here.
    cause = "" if turn.fault else f" {ANOTHER_PROGRAM}"
    fault = {"fault": turn.fault} if turn.fault else {}
    return MoveRefusedError(
        "turn-already-decided",
        f"Turn {turn.number} of match {turn.match_id} is decided: {who} {turn.text!r}.{cause}",
        turn=turn.number,
        move=turn.text,
        **fault,
    )


def expired(turn: TurnRow) -> MoveRefusedError:
    """Return the answer for a turn in which the referee played after the deadline."""
    return MoveRefusedError(
        "turn-expired",
        f"The deadline of turn {turn.number} of match {turn.match_id} was "
        f"{turn.deadline:%Y-%m-%dT%H:%M:%S.%fZ}; the referee played {turn.text!r}.",
        turn=turn.number,
        move=turn.text,
        fault=TIMEOUT,
    )


def illegal(turn: TurnRow, error: IllegalMoveError, received_at: datetime) -> MoveRefusedError:
    """Return the answer to an illegal move; after the last attempt it has the referee's move."""
    left = MAX_ILLEGAL - turn.illegal_answers
    detail, played = str(error), {}
    if left <= 0:
        played = {"move": turn.text, "fault": ILLEGAL}
        detail = f"{detail}; that was the last attempt, and the referee played {turn.text!r}"
    return MoveRefusedError(
        "illegal-move",
        detail,
        legal_moves=list(error.legal_moves),
        turn=turn.number,
        remaining_ms=remaining_ms(turn, received_at),
        answers_left=left,
        decided=left <= 0,
        **played,
    )


def not_open(match_id: int, number: int) -> MoveRefusedError:
    """Return the answer for a turn that is not open and was not decided."""
    return MoveRefusedError(
        "turn-not-open",
        f"Turn {number} of match {match_id} is not open. GET /api/v1/turns lists the open turns.",
    )


def not_found(bot: object, match_id: int) -> MoveRefusedError:
    """Return the answer if the match does not exist or the bot does not play in it."""
    return MoveRefusedError(
        "not-found",
        f"{bot} has no seat in match {match_id}. Only a bot with a seat may move and get verdicts. "
        f"GET /api/v1/matches/{match_id} lists the seats.",
    )


def _canonical(game: str, text: str) -> str:
    moves = catalogue.find(game).moves
    try:
        return moves.texts[moves.parse(text)]
    except ValueError:
        return ""
