"""Verifies a finished match from its record, with the engine on your machine."""

from collections.abc import Callable
from typing import NamedTuple

from bots_sdk.answers import Match
from engine.deals import commitment
from engine.errors import RecordError, quote
from engine.games.game import State
from engine.games.titles import counted
from engine.rating.results import forfeited_in, rated_places
from engine.record import Record, read, verify

_REPLAY = "deal and moves"
_SHA = "SHA-256 of the deal seed is "


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


def check_match(
    line: bytes, match: Match, noted: str = "", name_now: Callable[[str], str] = str
) -> list[Check]:
    """Compare a match's record with the league's data, and return the checks.

    Args:
        line: the record of the match.
        match: the match as the league returns it.
        noted: the commitment that you noted before the first move; empty without one.
        name_now: returns the current name of a bot. A record keeps the names that bots had when
            they played.
    """
    try:
        record = read(line)
    except RecordError as error:
        return [Check("record", False, str(error))]
    computed = commitment(record.deal_seed)
    checks = [_equal("commitment", _SHA, computed, match["commitment"], "the league's")]
    if noted:
        checks.append(_noted(computed, noted))
    league_rules = (match["game"], match["rules"], match["seats"])
    rules = (record.game, record.rules, record.seats)
    checks.append(_equal("rules", "the record has ", rules, league_rules, "the match's"))
    seating = sorted(match["seating"], key=lambda seat: seat["seat"])
    names = tuple(seat["bot"] for seat in seating)
    versions = tuple(f"{seat['bot']} v{seat.get('version')}" for seat in seating)
    checks.append(_players(record.players, names, versions, name_now))
    end = _replayed(record, checks)
    if end is None:
        return checks
    scores = tuple(seat["score"] for seat in seating)
    checks.append(_equal("scores", "replayed: ", end.scores, scores, "the match's"))
    found = rated_places(end.places or (), forfeited_in(record))
    places = tuple(seat["place"] for seat in seating)
    checks.append(_equal("places", "replayed: ", found, places, "the match's"))
    return checks


def check_record(record: Record, noted: str = "") -> list[Check]:
    """Replay a record without a league, and return the checks.

    Args:
        record: the record.
        noted: see `check_match`.
    """
    checks = []
    if noted:
        checks.append(_noted(commitment(record.deal_seed), noted))
    _replayed(record, checks)
    return checks


def is_replayed(checks: list[Check]) -> bool:
    """Return whether the moves of the record lead to its scores, by its checks."""
    return any(check.subject == _REPLAY and check.holds for check in checks)


def _replayed(record: Record, checks: list[Check]) -> State | None:
    """Replay a record and add the check; return the finished match, or None if it is wrong."""
    try:
        end = verify(record)
    except RecordError as error:
        checks.append(Check(_REPLAY, False, str(error)))
        return None
    faults = f"; the referee made {len(record.faults)} of them" if record.faults else ""
    moves = counted(len(record.moves), "move")
    replayed = f"all {moves} are legal with the deal of this seed{faults}"
    checks.append(Check(_REPLAY, True, replayed))
    return end


def _players(
    found: tuple[str, ...] | None,
    names: tuple[str, ...],
    versions: tuple[str, ...],
    name_now: Callable[[str], str],
) -> Check:
    """Compare the names in a record with those of the match.

    Args:
        found: the names in the record; None if it has none.
        names: the bots of the match.
        versions: these bots with their versions, as in a record of two versions of one bot.
        name_now: see `check_match`.
    """
    label = "the record has "
    if found in (names, versions):
        return _equal("players", label, found, found, "the match's")
    now = tuple(_renamed(each, name_now) for each in found or ())
    if now in (names, versions):
        detail = f"{label}{_plain(found)}; since then bots were renamed: {_plain(now)}"
        return Check("players", True, detail)
    return _equal("players", label, found, names, "the match's")


def _renamed(player: str, name_now: Callable[[str], str]) -> str:
    name, mark, version = player.partition(" v")
    return f"{name_now(name)}{mark}{version}"


def _noted(computed: str, noted: str) -> Check:
    return _equal("noted commitment", _SHA, computed, noted, "the noted one")


def _equal(subject: str, label: str, found: object, expected: object, whose: str) -> Check:
    if found == expected:
        return Check(subject, True, f"{label}{_plain(found)}")
    return Check(subject, False, f"{label}{_plain(found)}, not {whose}: {_plain(expected)}")


def _plain(value: object) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return " ".join(quote(part, 70).strip("'") for part in parts)
