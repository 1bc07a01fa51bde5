"""What `submit` answers: a verdict, or an error with a stable code."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """A move that was accepted.

    Attributes:
        move: canonical text.
        turn: the seat's turns before this one.
        remaining_ms: what was left of the turn's clock, the bank included, when it came in.
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
        members: what the problem document has besides, as JSON data: with
            ``turn-already-decided`` and ``turn-expired`` ``turn`` and ``move``, what was played;
            with ``illegal-move`` ``legal_moves``, ``turn``, ``remaining_ms`` and
            ``answers_left``, and once that is 0 ``move``, what the referee played.
    """

    def __init__(self, code: str, detail: str, **members: Any) -> None:
        self.code = code
        self.members = members
        super().__init__(detail)
