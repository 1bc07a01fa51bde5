"""Patterns, bounds and defaults in the schema that follow from the names of fields.

Many objects have the same fields, such as ``bot`` or ``rank``. Here each name has its shape once.
Answers with another shape fail the tests in ``tests/api/test_schema.py``.
"""

from typing import Any

from engine.analysis import MARKS
from engine.games import catalogue
from engine.pairing import TieBreak
from league.models import MatchAnalysis, TournamentEntry
from league.models.limits import MAX_MOVES, SEATS
from league.models.tournaments import EventSettings

Schema = dict[str, Any]

_HEX = {"pattern": "^[0-9a-f]{64}$"}
_BOT = {"pattern": "^[a-z0-9-]{3,32}$"}
_SLUG = {"pattern": "^[-a-zA-Z0-9_]{1,50}$"}
_MOVE = {"pattern": "^(pass|(give|play|award) [0-9]+( [0-9]+)*)$"}
_PRESETS = [name for game in catalogue.GAMES.values() for name in game.presets]
_TEXTS: dict[str, Schema] = {
    **dict.fromkeys(("commitment", "deal_seed", "seed"), _HEX),
    **dict.fromkeys(("bot", "bots", "opponent", "anchor", "placed", "twin"), _BOT),
    **dict.fromkeys(("gainer", "partner", "now", "then"), _BOT),
    **dict.fromkeys(("Bot.name", "CreatedBot.name"), _BOT),
    **dict.fromkeys(("ladder", "slug"), _SLUG),
    **dict.fromkeys(("Accepted.move", "legal_moves", "JudgedMove.move", "best"), _MOVE),
    "token": {"pattern": "^tn_[ob]_[A-Za-z0-9_-]{43}$"},
    "lot": {"pattern": "^[0-9a-f]{16}$"},
    "game": {"enum": list(catalogue.GAMES)},
    "rules": {"enum": _PRESETS},
    "TournamentRow.state": {"enum": list(TournamentEntry.State.values)},
    "decided_by": {"enum": [str(each) for each in TieBreak]},
    "Comparison.verdict": {
        "enum": ["", "better", "not better", "undecided", "no difference in behaviour"]
    },
    "fault": {"enum": ["", "timeout", "illegal", "crash", "forfeit"]},
    "JudgedMove.mark": {"enum": list(MARKS)},
    "JudgedMove.phase": {"enum": ["give", "lead", "follow", "award", "play"]},
    "MatchAnalysis.state": {"enum": ["none", *MatchAnalysis.State.values]},
    "Fault.kind": {"enum": ["timeout", "illegal", "crash", "forfeit"]},
}
"""The shapes of texts by field, or by object and field. A list's name is that of its items."""
_TEXTS["ComparisonDetail.verdict"] = _TEXTS["Comparison.verdict"]

_FROM_0 = (
    *("answers_left", "bank_ms", "bank_seconds", "block", "blocks", "blocks_finished"),
    *("blocks_queued", "check_seconds_left"),
    *("blocks_playing", "blocks_rated", "blocks_void", "blocks_with_different_results"),
    *("byes", "checked_rounds", "entries", "extra", "extra_blocks", "faults", "finished"),
    *("frozen_rounds", "gap", "given_back_ms", "illegal_answers", "left_after", "move_seconds"),
    *("pairs", "performance_blocks", "performance_error", "performance_margin", "playing", "ply"),
    *("queued", "remaining_ms", "revision", "seat", "seconds_left", "turn", "wins", "number"),
    *("needed", "blocks_to_halve_error", "matches_finished", "moves", "moves_done", "loss"),
    *("JudgedMove.error", "luck_error", "play_error"),
)
_FROM_1 = (
    *("applied_number", "band", "blocks_per_table", "from_applied_number", "from_round", "id"),
    *("first_round", "idle_days", "match", "max_tables", "new", "old", "place", "rank"),
    "missed_rounds",
    *("rank_now", "rank_then", "replays_round", "round", "round_reached", "stage", "superseded"),
    *(
        "swiss_rounds",
        "challenge",
        "max_challenges_per_day",
        "ranked_from",
        "table_place",
        "tournament",
        "version",
        "Version.number",
    ),
    *("VersionLog.number", "Round.number", "TournamentRound.number", "BracketSeat.seed"),
    *("Block.matches", "Suspicion.matches", "playouts"),
)
_AT_LEAST_0 = {"minimum": 0}
_AT_LEAST_1 = {"minimum": 1}
_SHARE = {"minimum": 0, "maximum": 1}
_SEATS = {"minimum": int(SEATS.low), "maximum": int(SEATS.high)}
_NUMBERS: dict[str, Schema] = {
    **dict.fromkeys(_FROM_0, _AT_LEAST_0),
    **dict.fromkeys(_FROM_1, _AT_LEAST_1),
    **dict.fromkeys(("best_chance", "win_share", "superiority", "share", "p"), _SHARE),
    **dict.fromkeys(("MatchChance.seats", "SeatParts.result"), _SHARE),
    "SeatParts.deal": {"minimum": -1, "maximum": 1},
    **dict.fromkeys(("seats", "min_seats", "max_seats"), _SEATS),
    "seat": {"minimum": 0, "maximum": int(SEATS.high) - 1},
    "matches": {"minimum": 0},
    "answers_left": {"minimum": 0, "maximum": 4},
}
"""The bounds of numbers by field, or by object and field."""


def _plain(value: Any) -> Any:
    """Return a member of an enumeration as its text, and any other value as it is."""
    return str(value) if isinstance(value, str) else value


_DEFAULTS: dict[str, Any] = {
    **{
        f"NewTournament.{field.name}": _plain(field.get_default())
        for field in EventSettings._meta.fields
    },
    "NewToken.name": "",
    "NewToken.scopes": ["manage", "read", "organise"],
    "NewToken.expires_at": None,
    "NewQuarantine.ends_at": None,
    "Replay.later_stages": "keep",
    "Cancellation.reason": "Decision of the organisers.",
    "Upload.note": "",
}
"""The value that a call uses if a field of its body is missing, by object and field."""


def add_shapes(result: Schema, **_: Any) -> Schema:
    """Add patterns, bounds and defaults to all objects that lack them, as a hook."""
    # drf-spectacular leaves out the bound of a list of objects.
    result["components"]["schemas"]["Moves"]["properties"]["moves"]["maxItems"] = MAX_MOVES
    for name, component in result["components"]["schemas"].items():
        for field, schema in component.get("properties", {}).items():
            _add(schema, f"{name}.{field}", field)
            if f"{name}.{field}" in _DEFAULTS:
                schema["default"] = _DEFAULTS[f"{name}.{field}"]
    return result


def _add(schema: Schema, path: str, field: str) -> None:
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "items" in schema:
        _add(schema["items"], path, field)
    if "enum" in schema:
        return
    if "string" in kinds and not {"pattern", "format", "maxLength"} & {*schema}:
        shape = _TEXTS.get(path) or _TEXTS.get(field, {})
        if "enum" in shape and "null" in kinds:
            del schema["type"]
            schema["oneOf"] = [{"type": "string", **shape}, {"type": "null"}]
        else:
            schema.update(shape)
    if {"integer", "number"} & {*kinds} and "minimum" not in schema:
        schema.update(_NUMBERS.get(path) or _NUMBERS.get(field, {}))
