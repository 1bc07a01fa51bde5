"""Sentences for the player of a seat: "you win 15 points" in place of "ada wins 15 points"."""

import re
from collections.abc import Sequence

from engine.games.events import Event
from engine.sentences import as_sentence, begin_a_match

_OWN = "\0"
"""Stands in a sentence for the name of the player; no name has this character."""
_IRREGULAR = {"is": "are", "has": "have", "passes": "pass"}
_REGULAR = (
    *("awards", "begins", "draws", "gives", "holds", "leads", "plays", "receives", "scores"),
    *("takes", "wins"),
)
_VERBS = _IRREGULAR | {verb: verb.removesuffix("s") for verb in _REGULAR}
_CLAUSE = re.compile(rf"{_OWN} (\w+)([^;{_OWN}]*)")
_NEXT_VERB = re.compile(r"\b(and|but) (\w+)")


def names_for(names: Sequence[str], own: int) -> list[str]:
    """Return the names of the seats for `to_you`, with a mark in place of the player's name."""
    return [_OWN if seat == own else name for seat, name in enumerate(names)]


def to_you(text: str) -> str:
    """Return a sentence on events with "you" in place of the mark of `names_for`."""
    addressed = _CLAUSE.sub(_addressed, text).replace(_OWN, "you")
    return f"Y{addressed[1:]}" if text.startswith(_OWN) else addressed


def sentences_for(events: Sequence[Event], names: Sequence[str], own: int) -> list[str]:
    """Return the events of one phase as sentences for the player of a seat.

    Args:
        events: as the player may see them.
        names: of the players, by seat.
        own: the player's seat.
    """
    begins, marked = begin_a_match(events), names_for(names, own)
    return [to_you(as_sentence(event, marked, at_start=begins)) for event in events]


def _addressed(clause: re.Match[str]) -> str:
    verb, rest = clause.groups()
    if verb not in _VERBS and verb != "played":
        return clause[0]  # the player is the object: "ada gives you a gift"
    rest = _NEXT_VERB.sub(lambda it: f"{it[1]} {_VERBS.get(it[2], it[2])}", rest)
    return f"you {_VERBS.get(verb, verb)}{rest.replace(' its ', ' your ')}"
