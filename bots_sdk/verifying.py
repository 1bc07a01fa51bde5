"""Verifies a finished match from its record, with the engine on your machine."""

from typing import NamedTuple

from bots_sdk.answers import Match
from engine.deals import commitment
from engine.errors import RecordError, quote
from engine.games.titles import counted
from engine.record import read, verify


class Check(NamedTuple):
    """A fact of a match that was checked.

    Attributes:
        subject: the fact, in a word or two.
        holds: whether it holds.
        detail: the value that was found, or the difference.
    """

    subject: str
    holds: bool
    detail: str


def check_match(line: bytes, match: Match, noted: str = "") -> list[Check]:
    """Compare a match's record with the league's data, and return the checks.

    Args:
        line: the record of the match.
        match: the match as the league returns it.
        noted: the commitment that you noted before the first move; empty without one.
    """
    try:
        record = read(line)
    except RecordError as error:
        return [Check("record", False, str(error))]
    computed = commitment(record.deal_seed)
    label = "SHA-256 of the deal seed is "
    checks = [_equal("commitment", label, computed, match["commitment"], "the league's")]
    if noted:
        checks.append(_equal("noted commitment", label, computed, noted, "the noted one"))
    league_rules = (match["game"], match["rules"], match["seats"])
    rules = (record.game, record.rules, record.seats)
    checks.append(_equal("rules", "the record has ", rules, league_rules, "the match's"))
    seating = sorted(match["seating"], key=lambda seat: seat["seat"])
    names = tuple(seat["bot"] for seat in seating)
    checks.append(_equal("players", "the record has ", record.players, names, "the match's"))
    try:
        end = verify(record)
    except RecordError as error:
        return [*checks, Check("deal and moves", False, str(error))]
    faults = f"; the referee made {len(record.faults)} of them" if record.faults else ""
    moves = counted(len(record.moves), "move")
    replayed = f"all {moves} are legal with the deal of this seed{faults}"
    checks.append(Check("deal and moves", True, replayed))
    scores = tuple(seat["score"] for seat in seating)
    checks.append(_equal("scores", "replayed: ", end.scores, scores, "the match's"))
    places = tuple(seat["place"] for seat in seating)
    checks.append(_equal("places", "replayed: ", end.places, places, "the match's"))
    return checks


def _equal(subject: str, label: str, found: object, expected: object, whose: str) -> Check:
    if found == expected:
        return Check(subject, True, f"{label}{_plain(found)}")
    return Check(subject, False, f"{label}{_plain(found)}, not {whose}: {_plain(expected)}")


def _plain(value: object) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return " ".join(quote(part, 70).strip("'") for part in parts)
