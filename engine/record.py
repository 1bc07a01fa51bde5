"""Match records: one JSON object that holds a deal seed and the moves, so anyone can replay it.

`read` checks the form, `verify` the content (docs/reference/records.md). Neither trusts the record:
for any input they end soon and raise only `RecordError`. `engine.playback` replays with events.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from engine.deals import SEED_BYTES, derive, seeded_shuffle
from engine.errors import RecordError, UnknownRulesError, listed, quote
from engine.games import catalogue
from engine.games.game import State

FORMAT = "twelfth-night/1"
FAULT_KINDS = ("timeout", "illegal", "crash", "forfeit")
LONGEST_LINE = 4 << 20
"""Maximum length of a line in bytes; the longest possible match takes about 300 kB."""

_DIGITS_READ = 600

_REQUIRED = ("format", "game", "rules", "seats", "deal_seed", "moves", "scores", "places")
_OPTIONAL = ("players", "faults")
_SEED = re.compile(rf"[0-9a-f]{{{2 * SEED_BYTES}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fault:
    """A move that the referee made instead of a player.

    Attributes:
        ply: index of the move.
        seat: the seat of the player.
        kind: one of `FAULT_KINDS`.
    """

    ply: int
    seat: int
    kind: str


@dataclass(frozen=True, slots=True)
class Record:
    """A finished match.

    Attributes:
        game: slug of the game.
        rules: name of the preset.
        seats: number of seats.
        deal_seed: 32 bytes.
        moves: seat and canonical text of every move; the index is the ply.
        scores: per seat.
        places: per seat.
        faults: ascending by ply.
        players: a name per seat, or None if the record has no names.
    """

    game: str
    rules: str
    seats: int
    deal_seed: bytes
    moves: tuple[tuple[int, str], ...]
    scores: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[Fault, ...] = ()
    players: tuple[str, ...] | None = None

    def start(self) -> State:
        """Return the match just after the deal."""
        return catalogue.start(self.game, self.rules, self.seats, seeded_shuffle(self.deal_seed))


def record_of(
    state: State,
    deal_seed: bytes,
    moves: Iterable[tuple[int, str]],
    *,
    faults: Iterable[Fault] = (),
    players: Iterable[str] | None = None,
) -> Record:
    """Return the record of a match by its last state; see `Record` for the other arguments."""
    return Record(
        game=state.game,
        rules=state.rules.name,
        seats=state.seats,
        deal_seed=deal_seed,
        moves=tuple(moves),
        scores=state.scores or (),
        places=state.places or (),
        faults=tuple(faults),
        players=None if players is None else tuple(players),
    )


def fallback(deal_seed: bytes, ply: int, legal: Sequence[int]) -> int:
    """Return the action that the referee takes instead of a player at a ply.

    Args:
        deal_seed: deal seed of the match.
        ply: index of the move.
        legal: the legal action ids, in canonical order.
    """
    choice = int.from_bytes(derive(deal_seed, f"fallback/{ply}")[:8], "big")
    return legal[choice % len(legal)]


# -- Writing and reading ---------------------------------------------------------------------


def write(record: Record) -> str:
    """Return a record as one line of ASCII JSON, without a line end."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "game": record.game,
        "rules": record.rules,
        "seats": record.seats,
        "deal_seed": record.deal_seed.hex(),
    }
    if record.players is not None:
        document["players"] = list(record.players)
    document["moves"] = [list(move) for move in record.moves]
    document["faults"] = [
        {"ply": fault.ply, "seat": fault.seat, "kind": fault.kind} for fault in record.faults
    ]
    document["scores"] = list(record.scores)
    document["places"] = list(record.places)
    return json.dumps(document)


def read(line: bytes) -> Record:
    """Return the record in a line of UTF-8 JSON; white space around it is allowed.

    Raises:
        RecordError: the line does not have the documented form. `verify` checks the content: legal
            moves and right scores.
    """
    if len(line) > LONGEST_LINE:
        raise RecordError(f"longer than {LONGEST_LINE} bytes, the maximum for a line")
    document, doubled = _parse_json(line)
    if not isinstance(document, dict):
        raise RecordError(f"not a JSON object but {_json_type(document)}")
    if document.get("format", FORMAT) != FORMAT:
        found = quote(document["format"])
        raise RecordError(f"unknown format {found}; the format must be {FORMAT}")
    if doubled:
        raise RecordError(f"key {quote(doubled[0])} is twice in one object")
    _check_keys(document, _REQUIRED, _OPTIONAL, "the record")
    state_class, seats = _check_rules(document)
    seed = _text(document["deal_seed"], "deal_seed")
    if not _SEED.fullmatch(seed):
        raise RecordError(f"deal_seed is not 64 lowercase hex digits but {quote(seed)}")
    players = None
    if "players" in document:
        players = tuple(_text(name, "a player's name") for name in _list(document, "players"))
        if len(players) != seats:
            raise RecordError(f"{len(players)} players at {seats} seats")
    return Record(
        game=state_class.game,
        rules=document["rules"],
        seats=seats,
        deal_seed=bytes.fromhex(seed),
        moves=tuple(_move(entry) for entry in _list(document, "moves")),
        scores=tuple(_integer(score, "a score") for score in _list(document, "scores")),
        places=tuple(_integer(place, "a place") for place in _list(document, "places")),
        faults=tuple(_fault(entry) for entry in _list(document, "faults"))
        if "faults" in document
        else (),
        players=players,
    )


def read_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, from 1, in bounded memory.

    A line too long for a record is cut to just over `LONGEST_LINE`, so that `read` refuses it.
    """
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE)
        yield number, line


def _parse_json(line: bytes) -> tuple[Any, list[str]]:
    """Return the JSON value of a line, and the keys that stand twice in an object."""
    doubled: list[str] = []

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, value in pairs:
            if key in built:
                doubled.append(key)
            built[key] = value
        return built

    def refuse(constant: str) -> NoReturn:
        raise RecordError(f"not JSON: {constant} is not a JSON number")

    try:
        text = line.decode("utf-8")
        document = json.loads(
            text, object_pairs_hook=build, parse_constant=refuse, parse_int=_parse_integer
        )
    except RecordError:
        raise
    except UnicodeDecodeError as error:
        raise RecordError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        if not line.strip():
            raise RecordError("an empty line is not a record") from None
        raise RecordError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise RecordError("nested too deep") from None
    return document, doubled


def _parse_integer(digits: str) -> int:
    # Python may refuse to read more than 640 digits. The cut number is as wrong as the whole.
    return int(digits[:_DIGITS_READ])


def _check_keys(
    document: dict[str, Any], required: Sequence[str], optional: Sequence[str], what: str
) -> None:
    for key in required:
        if key not in document:
            raise RecordError(f"{what} has no {quote(key)}")
    for key in document:
        if key not in required and key not in optional:
            raise RecordError(f"{what} has an unknown key {quote(key)}")


def _check_rules(document: dict[str, Any]) -> tuple[type[State], int]:
    game = _text(document["game"], "game")
    rules = _text(document["rules"], "rules")
    seats = _integer(document["seats"], "seats")
    try:
        state_class = catalogue.find(game)
        state_class.preset(rules).check_seats(seats)
    except UnknownRulesError as error:
        raise RecordError(str(error)) from None
    return state_class, seats


def _move(entry: Any) -> tuple[int, str]:
    if type(entry) is not list or len(entry) != 2:
        raise RecordError(f"a move is a seat and a text, not {quote(entry)}")
    return _integer(entry[0], "a move's seat"), _text(entry[1], "a move")


def _fault(entry: Any) -> Fault:
    if type(entry) is not dict:
        raise RecordError(f"a fault is an object, not {quote(entry)}")
    _check_keys(entry, ("ply", "seat", "kind"), (), "a fault")
    return Fault(
        ply=_integer(entry["ply"], "a fault's ply"),
        seat=_integer(entry["seat"], "a fault's seat"),
        kind=_text(entry["kind"], "a fault's kind"),
    )


def _list(document: dict[str, Any], key: str) -> list[Any]:
    value = document[key]
    if type(value) is not list:
        raise RecordError(f"{key} is not a list but {_json_type(value)}")
    return value


def _integer(value: Any, what: str) -> int:
    if type(value) is not int:
        raise RecordError(f"{what} is not an integer but {_json_type(value)}")
    return value


def _text(value: Any, what: str) -> str:
    if type(value) is not str:
        raise RecordError(f"{what} is not a text but {_json_type(value)}")
    return value


def _json_type(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {dict: "an object", list: "a list", str: "a text", int: "an integer", float: "a float"}
    return names[type(value)]


# -- Verifying -------------------------------------------------------------------------------


def verify(record: Record) -> State:
    """Replay a record and return the finished match.

    Raises:
        RecordError: a move is not legal or out of turn, there are too few or too many moves, a
            fault breaks a rule, or scores or places differ; it names the first offending ply.
    """
    state = record.start()
    faults, misplaced = _faults_by_ply(record)
    forfeited: set[int] = set()
    for ply, (seat, text) in enumerate(record.moves):
        if state.is_over:
            raise RecordError("a move after the match was over", ply)
        if seat != state.actors[0]:
            due = state.actors[0]
            raise RecordError(f"seat {quote(seat)} moved in the turn of seat {due}", ply)
        legal = state.legal(seat)
        action = state.moves.ids.get(text, -1)
        if action not in legal:
            raise RecordError(_why_not_legal(state, seat, text), ply)
        if ply in misplaced:
            raise RecordError(
                "the faults must be in the order of their plies, at most one a ply", ply
            )
        fault = faults.get(ply)
        if len(legal) > 1 and seat in forfeited and (fault is None or fault.kind != "forfeit"):
            raise RecordError(f"seat {seat} had forfeited; this move needs a fault 'forfeit'", ply)
        if fault:
            _check_fault(record, fault, seat, action, legal)
            if fault.kind == "forfeit":
                forfeited.add(seat)
        state.step_unchecked({seat: action})
    if not state.is_over:
        raise RecordError("the moves stop before the match is over", len(record.moves))
    beyond = [fault.ply for fault in record.faults if fault.ply >= len(record.moves)]
    if beyond:
        raise RecordError("a fault at a ply that has no move", min(beyond))
    for name, recorded, found in (
        ("scores", record.scores, state.scores),
        ("places", record.places, state.places),
    ):
        if recorded != found:
            raise RecordError(f"{name} are {_spaced(found)}, not {quote(_spaced(recorded))}")
    return state


def replay(record: Record, plies: int) -> State:
    """Return the match just before a ply, from a record that `verify` accepts.

    Raises:
        ValueError: the record has no such ply.
    """
    if not 0 <= plies <= len(record.moves):
        raise ValueError(f"no ply {quote(plies)}: the match has 0 to {len(record.moves)}")
    state = record.start()
    for seat, text in record.moves[:plies]:
        state.step_unchecked({seat: state.moves.ids[text]})
    return state


def _faults_by_ply(record: Record) -> tuple[dict[int, Fault], set[int]]:
    """Return the faults by ply, and the plies of faults that stand in the wrong place."""
    faults: dict[int, Fault] = {}
    misplaced = set()
    last = -1
    for fault in record.faults:
        if fault.ply < 0:
            raise RecordError("a fault at a ply that has no move", fault.ply)
        if fault.ply <= last:
            misplaced.add(fault.ply)
        last = max(last, fault.ply)
        faults.setdefault(fault.ply, fault)
    return faults, misplaced


def _check_fault(
    record: Record, fault: Fault, seat: int, action: int, legal: tuple[int, ...]
) -> None:
    if fault.kind not in FAULT_KINDS:
        kinds = listed(FAULT_KINDS)
        raise RecordError(
            f"unknown kind of fault {quote(fault.kind)}; the kinds are {kinds}", fault.ply
        )
    if fault.seat != seat:
        raise RecordError(f"a fault of seat {quote(fault.seat)} where seat {seat} moved", fault.ply)
    if len(legal) == 1:
        raise RecordError("a fault, but the seat had only one legal move", fault.ply)
    if action != fallback(record.deal_seed, fault.ply, legal):
        raise RecordError("a fault, but the move is not the fallback", fault.ply)


def _why_not_legal(state: State, seat: int, text: str) -> str:
    if text not in state.moves.ids:
        try:
            canonical = state.moves.texts[state.moves.parse(text)]
        except ValueError as error:
            return str(error)
        return f"{quote(text)} is not canonical; it is written {canonical!r}"
    return f"{quote(text)} is not legal; seat {seat} may {listed(state.legal_texts(seat))}"


def _spaced(numbers: Sequence[int] | None) -> str:
    return " ".join(quote(number) for number in list(numbers or ())[:9])
