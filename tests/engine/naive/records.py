"""Records in the naive implementation: simulating, replaying and verifying."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

from tests.engine.naive.deals import fallback
from tests.engine.naive.match import Match
from tests.engine.naive.partridge import PARTRIDGE, Partridge
from tests.engine.naive.twelve_days import TWELVE_DAYS, TwelveDays

FORMAT = "twelfth-night/1"

GAMES: dict[str, type[TwelveDays] | type[Partridge]] = {
    "twelve-days": TwelveDays,
    "partridge": Partridge,
}
PRESETS: dict[str, dict[str, Any]] = {"twelve-days": TWELVE_DAYS, "partridge": PARTRIDGE}
Policy = Callable[[list[str], int, int], str]


def simulate(game: str, rules: str, seats: int, deal_seed: bytes, policy: Policy) -> dict[str, Any]:
    match = GAMES[game](rules, seats, deal_seed)
    moves: list[list[Any]] = []
    while not match.over:
        seat = match.turn()[0]
        text = policy(match.legal(seat), seat, len(moves))
        match.move(seat, text)
        moves.append([seat, text])
    return {
        "format": FORMAT,
        "game": game,
        "rules": rules,
        "seats": seats,
        "deal_seed": deal_seed.hex(),
        "moves": moves,
        "scores": match.scores,
        "places": match.places,
    }


def replay(record: dict[str, Any], ply: int) -> Match:
    """Return the match of a valid record just before a ply."""
    seed = bytes.fromhex(record["deal_seed"])
    match = GAMES[record["game"]](record["rules"], record["seats"], seed)
    for seat, text in record["moves"][:ply]:
        match.move(seat, text)
    return match


class Refused(Exception):  # noqa: N818 - the result of a check, not a failure
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def quote(value: object) -> str:
    """Input as short ASCII without line breaks."""
    text = ascii(value) if isinstance(value, str) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def parse(line: bytes) -> dict[str, Any]:
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in items)
        twice.extend(key for key in counts if counts[key] > 1)
        return dict(items)

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    try:
        # Python refuses to read thousands of digits. The first 600 are as wrong as all digits.
        record = json.loads(
            line.decode("utf-8", "strict"),
            object_pairs_hook=pairs,
            parse_constant=constant,
            parse_int=lambda digits: int(digits[:600]),
        )
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {quote(str(error))}") from None
    if not isinstance(record, dict):
        raise Refused("not an object")
    if "format" in record and record["format"] != FORMAT:
        raise Refused(f"unknown format {quote(record['format'])}")
    if twice:
        raise Refused(f"key {quote(twice[0])} appears twice in an object")
    return record


def need(condition: bool, reason: str) -> None:
    if not condition:
        raise Refused(reason)


def need_keys(value: Any, required: set[str], optional: set[str], what: str) -> None:
    need(isinstance(value, dict), f"{what} is not an object")
    for key in sorted(required):
        need(key in value, f"{what} lacks {key!r}")
    for key in value:
        need(key in required | optional, f"{what} has an unknown key {quote(key)}")


def is_int(value: Any) -> bool:
    return type(value) is int  # bool is a subclass, but no integer here


def check_shape(record: dict[str, Any]) -> None:
    required = {"format", "game", "rules", "seats", "deal_seed", "moves", "scores", "places"}
    need_keys(record, required, {"players", "faults"}, "the record")
    for key in ("game", "rules", "deal_seed"):
        need(isinstance(record[key], str), f"{key} is not a text")
    need(is_int(record["seats"]), "seats is not an integer")
    need(record["game"] in PRESETS, f"unknown game {quote(record['game'])}")
    presets = PRESETS[record["game"]]
    need(record["rules"] in presets, f"unknown preset {quote(record['rules'])}")
    need(record["seats"] in presets[record["rules"]][-1], "the preset refuses so many seats")
    hexadecimal = re.fullmatch("[0-9a-f]{64}", record["deal_seed"])
    need(hexadecimal is not None, "deal_seed is not 64 lowercase hex digits")
    for key in ("moves", "scores", "places"):
        need(isinstance(record[key], list), f"{key} is not a list")
    for move in record["moves"]:
        pair = isinstance(move, list) and len(move) == 2
        need(pair and is_int(move[0]) and isinstance(move[1], str), "a move is not [seat, text]")
    for key in ("scores", "places"):
        need(all(map(is_int, record[key])), f"{key} holds something else than integers")
    players = record.get("players", [""] * record["seats"])
    need(isinstance(players, list), "players is not a list")
    need(all(isinstance(name, str) for name in players), "a player's name is not a text")
    need(len(players) == record["seats"], "players does not name one player a seat")
    need(isinstance(record.get("faults", []), list), "faults is not a list")
    for fault in record.get("faults", []):
        need_keys(fault, {"ply", "seat", "kind"}, set(), "a fault")
        need(is_int(fault["ply"]) and is_int(fault["seat"]), "a fault's number is not an integer")
        need(isinstance(fault["kind"], str), "a fault's kind is not a text")


def verify(line: bytes) -> tuple[int | None, str] | None:
    """Return None for a valid record, else the first offending ply (or None) and the reason."""
    try:
        record = parse(line)
        check_shape(record)
    except Refused as refused:
        return None, refused.reason
    offences = fault_list_offences(record) + replay_offences(record)
    if offences:
        return min(offences, key=lambda offence: offence[0])
    match = replay(record, len(record["moves"]))
    for key, right in (("scores", match.scores), ("places", match.places)):
        if record[key] != right:
            return None, f"{key} should be {right}"
    return None


def fault_list_offences(record: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the offences of the list of faults that do not depend on the moves."""
    found: list[tuple[int, str]] = []
    before: int | None = None
    for fault in record.get("faults", []):
        ply = fault["ply"]
        if not 0 <= ply < len(record["moves"]):
            found.append((ply, "a fault at a ply that is not there"))
        elif before is not None and ply <= before:
            found.append((ply, "faults do not ascend by ply"))
        elif fault["kind"] not in ("timeout", "illegal", "crash", "forfeit"):
            found.append((ply, f"unknown kind of fault {quote(fault['kind'])}"))
        elif fault["seat"] != record["moves"][ply][0]:
            found.append((ply, "a fault of a seat that did not move"))
        before = ply
    return found


def replay_offences(record: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the first offence of a move, or of a fault given the moves."""
    match = replay(record, 0)
    faults = {fault["ply"]: fault["kind"] for fault in record.get("faults", [])}
    forfeited: set[int] = set()
    for ply, (seat, text) in enumerate(record["moves"]):
        if match.over:
            return [(ply, "the moves go on after the match is over")]
        if seat != match.turn()[0]:
            return [(ply, "out of turn")]
        legal = match.legal(seat)
        if text not in legal:
            return [(ply, f"{quote(text)} is not legal")]
        if ply in faults:
            if len(legal) == 1:
                return [(ply, "a fault where there was no choice")]
            if text != fallback(match.seed, ply, legal):
                return [(ply, "the move of a fault is not the fallback")]
            if faults[ply] == "forfeit":
                forfeited.add(seat)
        if seat in forfeited and len(legal) > 1 and faults.get(ply) != "forfeit":
            return [(ply, "a choice of a seat that had forfeited")]
        match.move(seat, text)
    return [] if match.over else [(len(record["moves"]), "the moves stop early")]
