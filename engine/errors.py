"""Errors of the core; each message states in one line what happened and what to do.

Every error about the input of a caller or player is a `ValueError`.
"""

from collections.abc import Sequence
from difflib import get_close_matches


class UnknownRulesError(ValueError):
    """There is no such game or preset, or the preset does not allow that many seats."""


class IllegalMoveError(ValueError):
    """A seat may not make this move now; the state did not change.

    Attributes:
        seat: the seat that tried to move.
        phase: the phase of the match.
        move: the move as text.
        legal_moves: the seat's legal moves; empty when it has nothing to decide.
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


NO_TEXT = "a move is a text"
"""With this, the reason of a fault begins if the answer was not a text."""


def no_text(answer: object) -> str:
    """Return why an answer that is not a text is no move, and what a bot must return."""
    remedy = "return one of the texts in legal_moves"
    if answer is None:
        remedy += "; `choose` may have no `return`"
    return f"{NO_TEXT}, not {quote(answer)}; {remedy}"


def quote(value: object, limit: int = 60) -> str:
    """Return ``value`` for a message: one line of printable ASCII, about ``limit`` characters.

    It may be any value, even an object whose ``repr`` fails.
    """
    try:
        text = ascii(value[:limit] if isinstance(value, str | bytes) else value)
        whole = len(text) <= limit + 3 and (not isinstance(value, str) or len(value) <= limit)
    except Exception:
        return f"something of type {ascii(type(value).__name__)[1:-1][:limit]}"
    return text if whole else text[:limit] + "..."


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return names joined by commas, at most ``limit`` of them."""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


def nearest(name: str, names: Sequence[str], cutoff: float = 0.6) -> str:
    """Return the name that is most like ``name``, empty if none has the likeness ``cutoff``.

    ``cutoff`` is a ratio of `difflib`, from 0 to 1. Only the first 60 characters of ``name`` and
    the first 200 of ``names`` count, so that the time is bounded.
    """
    near = get_close_matches(name[:60].lower(), names[:200], n=1, cutoff=cutoff)
    return near[0] if near else ""


class RecordError(ValueError):
    """A record is malformed, or a replay does not confirm it.

    Attributes:
        reason: the error, in one line.
        ply: the first offending ply; None if no ply is at fault.
    """

    def __init__(self, reason: str, ply: int | None = None) -> None:
        self.reason = reason
        self.ply = ply
        super().__init__(reason if ply is None else f"ply {quote(ply)}: {reason}")


class MatchInterruptedError(Exception):
    """A match can't go on and no player is at fault, for example because a worker shuts down."""


class PlayerFaultError(Exception):
    """A player failed to answer; the message is one line for the bot's author."""
