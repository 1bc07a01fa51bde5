"""Checking a match as a stranger would: from its record alone, with the engine, offline."""

from typing import NamedTuple

from bots_sdk.answers import Match
from engine.deals import commitment
from engine.errors import RecordError, quote
from engine.record import read, verify


class Check(NamedTuple):
    """One thing that was checked: what, whether it holds, and why or what was found."""

    what: str
    holds: bool
    detail: str


def check_match(line: bytes, match: Match, noted: str = "") -> list[Check]:
    """Return what was checked of a match.

    Args:
        line: its record.
        match: what the league says of it.
        noted: the commitment that somebody noted before the first move, if anybody did.
    """
    try:
        record = read(line)
    except RecordError as error:
        return [Check("record", False, str(error))]
    bound = commitment(record.deal_seed)
    told = "SHA-256 of the deal seed is "
    checks = [_equal("commitment", told, bound, match["commitment"], "the league's")]
    if noted:
        checks.append(_equal("noted commitment", told, bound, noted, "the one noted"))
    told_rules = (match["game"], match["rules"], match["seats"])
    rules = (record.game, record.rules, record.seats)
    checks.append(_equal("rules", "the record is of ", rules, told_rules, "the match's"))
    seating = sorted(match["seating"], key=lambda seat: seat["seat"])
    names = tuple(seat["bot"] for seat in seating)
    checks.append(_equal("players", "at the table are ", record.players, names, "the match's"))
    try:
        end = verify(record)
    except RecordError as error:
        return [*checks, Check("deal and moves", False, str(error))]
    faults = f", {len(record.faults)} of them by the referee" if record.faults else ""
    replayed = f"{len(record.moves)} moves{faults} are legal from the deal of this seed"
    checks.append(Check("deal and moves", True, replayed))
    scores = tuple(seat["score"] for seat in seating)
    checks.append(_equal("scores", "replayed: ", end.scores, scores, "the match's"))
    places = tuple(seat["place"] for seat in seating)
    checks.append(_equal("places", "replayed: ", end.places, places, "the match's"))
    return checks


def _equal(what: str, told: str, found: object, said: object, whose: str) -> Check:
    if found == said:
        return Check(what, True, f"{told}{_plain(found)}")
    return Check(what, False, f"{told}{_plain(found)}, not {whose}: {_plain(said)}")


def _plain(value: object) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return " ".join(quote(part, 70).strip("'") for part in parts)
