"""What can go wrong in the core: each error says in one line what happened and what would do.

All that is wrong with what a caller or player brought is a `ValueError`.
"""

from collections.abc import Sequence


class UnknownRulesError(ValueError):
    """There is no such game or preset, or the preset does not take that many seats."""


class IllegalMoveError(ValueError):
    """A seat may not make this move now. The state that refused it is as it was.

    Attributes:
        seat: whose move it was.
        phase: the phase that the match is in.
        move: the move as text.
        legal_moves: what the seat may do instead; empty when it has nothing to decide.
    """

    def __init__(self, seat: int, phase: str, move: str, legal_moves: Sequence[str]) -> None:
        self.seat = seat
        self.phase = phase
        self.move = move
        self.legal_moves = tuple(legal_moves)
        if self.legal_moves:
            remedy = f"legal: {listed(self.legal_moves)}"
        else:
            remedy = "it has nothing to decide"
        super().__init__(f"seat {quote(seat)} may not {quote(move)} in phase {phase}; {remedy}")


def quote(value: object, limit: int = 60) -> str:
    """Return ``value`` for a message: one line of printable ASCII, about ``limit`` at most.

    It may be anything, also a stranger's object that fails to describe itself.
    """
    try:
        text = ascii(value[:limit] if isinstance(value, str | bytes) else value)
        whole = len(text) <= limit + 3 and (not isinstance(value, str) or len(value) <= limit)
    except Exception:
        return f"something of type {ascii(type(value).__name__)[1:limit]}"
    return text if whole else text[:limit] + "..."


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return names joined by commas, cut after ``limit`` of them."""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


class RecordError(ValueError):
    """A record is malformed, or does not replay to what it says.

    Attributes:
        reason: what is wrong, in one line.
        ply: the first offending ply, or None where no ply is at fault.
    """

    def __init__(self, reason: str, ply: int | None = None) -> None:
        self.reason = reason
        self.ply = ply
        super().__init__(reason if ply is None else f"ply {quote(ply)}: {reason}")


class MatchInterruptedError(Exception):
    """A match can't go on through no fault of a player, say because a worker is shutting down."""


class PlayerFaultError(Exception):
    """A player could not answer, through its own fault; the message is one line for its author."""
