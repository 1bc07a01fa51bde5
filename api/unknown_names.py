"""Names of fields and parameters that a call does not take, with the nearest one that it takes."""

from collections.abc import Iterable

from engine.errors import nearest

Errors = dict[str, list[str]]
"""Messages by the path of a field: ``moves.3.turn``, and empty for the whole body."""

ONLY_ONCE = "Must be given only once."
"""The message for a parameter or field of a form that a client sent twice."""
MAX_ERRORS = 50
"""Errors in one answer; a body can have thousands of unknown names."""
_SHOWN_CHARACTERS = 60


def refuse_names(names: Iterable[str], known: Iterable[str], kind: str) -> Errors:
    """Return an error for each name that is not known, with the nearest known name.

    Args:
        names: that the client sent.
        known: that the call takes.
        kind: ``field`` or ``parameter``.
    """
    known = sorted(known)
    unknown = [name for name in names if name not in known]
    return {_shortened(name): [_unknown(name, known, kind)] for name in unknown[:MAX_ERRORS]}


def _unknown(name: str, known: list[str], kind: str) -> str:
    text = f"There is no {kind} {_shortened(name)!r}."
    if near := nearest(name.replace("-", "_"), known):
        return f"{text} Did you mean {near!r}?"
    if not known:
        return f"{text} This call takes no {kind}s."
    return f"{text} The {kind}s are: {', '.join(known)}."


def _shortened(name: str) -> str:
    if len(name) <= _SHOWN_CHARACTERS:
        return name
    return name[:_SHOWN_CHARACTERS] + "..."
