"""The two statements of a move: one reads a live match, one writes all that a move brings.

What is written counts only if the match is still as it was read: it is compared and set on the
number of moves stored, which every decision of a turn raises. So a plain move needs no lock and no
transaction around it. Both statements are prepared at the server, where planning them would take
longer than running them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model

from league.models import Bot, LiveMove, Match, Turn

_MATCH = [
    "id",
    "game",
    "rules",
    "seats",
    "move_seconds",
    "bank_seconds",
    "deal_seed",
    "status",
    "live",
    "plies",
    "stored",
    "attempts",
    "due_at",
]
_TURN = [field.attname for field in Turn._meta.concrete_fields]
_MOVE = [field.attname for field in LiveMove._meta.concrete_fields]


def _columns(table: str, names: Sequence[str]) -> str:
    return ", ".join(f"{table}.{name} AS {table}_{name}" for name in names)


READ = f"""
SELECT seat.bot_id, bot.kind, {_columns("match", _MATCH)}, {_columns("turn", _TURN)},
    {_columns("move", _MOVE)}
FROM league_match AS match
JOIN league_matchseat AS seat ON seat.match_id = match.id
JOIN league_bot AS bot ON bot.id = seat.bot_id
LEFT JOIN LATERAL (
    SELECT * FROM league_turn AS any_turn
    WHERE any_turn.match_id = match.id AND any_turn.seat = seat.seat
    ORDER BY any_turn.number DESC LIMIT 1
) AS turn ON true
LEFT JOIN league_livemove AS move
    ON move.match_id = match.id AND move.ply >= match.plies AND move.seat = seat.seat
WHERE match.id = %(match)s AND match.live
ORDER BY seat.seat
"""

WRITE = """
WITH gone_on AS (
    UPDATE league_match SET stored = stored + %(made)s, plies = %(plies)s, due_at = %(due_at)s
    WHERE id = %(match)s AND status = 'playing'
        AND attempts = %(attempts)s AND stored = %(stored)s
    RETURNING id
), decided AS (
    UPDATE league_turn AS turn SET text = new.text, fault = new.fault, decided_at = new.decided_at
    FROM gone_on, unnest(
        %(decided)s::bigint[], %(decided_text)s::text[], %(decided_fault)s::text[],
        %(decided_at)s::timestamptz[]
    ) AS new (id, text, fault, decided_at)
    WHERE turn.id = new.id AND turn.match_id = gone_on.id
), moved AS (
    INSERT INTO league_livemove (match_id, ply, seat, text, fault)
    SELECT gone_on.id, new.*
    FROM gone_on, unnest(
        %(move_ply)s::int[], %(move_seat)s::int[], %(move_text)s::text[], %(move_fault)s::text[]
    ) AS new
), opened AS (
    INSERT INTO league_turn (
        match_id, opened_at, illegal_answers, text, fault,
        seat, bot_id, number, ply, deadline, bank_ms
    )
    SELECT gone_on.id, %(opened_at)s, 0, '', '', new.*
    FROM gone_on, unnest(
        %(turn_seat)s::int[], %(turn_bot)s::bigint[], %(turn_number)s::int[], %(turn_ply)s::int[],
        %(turn_deadline)s::timestamptz[], %(turn_bank)s::int[]
    ) AS new
)
SELECT count(*) FROM gone_on
"""


class Seat(NamedTuple):
    """Who has a seat.

    Attributes:
        bot_id: whose seat it is.
        remote: whether it is asked over the API.
    """

    bot_id: int
    remote: bool


class Sight(NamedTuple):
    """A live match as it was at one moment.

    Attributes:
        match: without what only a match needs that is not in play.
        seats: who sits where.
        turns: the last of each seat that has had one.
        chosen: the moves that wait for the last of their phase, by seat.
    """

    match: Match
    seats: Sequence[Seat]
    turns: dict[int, Turn]
    chosen: dict[int, LiveMove]


def read(match_id: int) -> Sight | None:
    """Read a live match, in play or not; None where there is none."""
    rows = _run(READ, {"match": str(match_id)}) if 0 < match_id < 2**63 else []
    if not rows:
        return None
    turn_from, move_from = 2 + len(_MATCH), 2 + len(_MATCH) + len(_TURN)
    seats, turns, chosen = [], {}, {}
    for number, row in enumerate(rows):
        seats.append(Seat(row[0], row[1] == Bot.Kind.REMOTE))
        if row[turn_from] is not None:
            turns[number] = _made(Turn, _TURN, row[turn_from:move_from])
        if row[move_from] is not None:
            chosen[number] = _made(LiveMove, _MOVE, row[move_from:])
    return Sight(_made(Match, _MATCH, rows[0][2:turn_from]), seats, turns, chosen)


def write(
    match: Match,
    *,
    decided: Sequence[Turn],
    moves: Sequence[LiveMove],
    opened: Sequence[Turn],
    now: datetime,
) -> bool:
    """Write what a match's moves brought, all or nothing.

    Args:
        match: as it was read, but for ``plies`` and ``due_at``, which are written; ``stored`` is
            raised.
        decided: turns with what was played in them.
        moves: those made.
        opened: turns to ask.
        now: when these open.

    Returns:
        Whether it was written: not if the match has changed since it was read.
    """
    [[written]] = _run(
        WRITE,
        {
            "match": str(match.pk),
            "attempts": str(match.attempts),
            "stored": str(match.stored),
            "made": str(len(moves)),
            "plies": str(match.plies),
            "due_at": match.due_at,
            "decided": _array(turn.pk for turn in decided),
            "decided_text": _array(turn.text for turn in decided),
            "decided_fault": _array(turn.fault for turn in decided),
            "decided_at": _array(turn.decided_at for turn in decided),
            "move_ply": _array(move.ply for move in moves),
            "move_seat": _array(move.seat for move in moves),
            "move_text": _array(move.text for move in moves),
            "move_fault": _array(move.fault for move in moves),
            "opened_at": now,
            "turn_seat": _array(turn.seat for turn in opened),
            "turn_bot": _array(turn.bot_id for turn in opened),
            "turn_number": _array(turn.number for turn in opened),
            "turn_ply": _array(turn.ply for turn in opened),
            "turn_deadline": _array(turn.deadline for turn in opened),
            "turn_bank": _array(turn.bank_ms for turn in opened),
        },
    )
    match.stored += len(moves) * written
    return bool(written)


def _run(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    # Django's own cursors put the values into the text, which can't be prepared. Whole numbers are
    # given as texts: as numbers each size would be a type, and each type a statement, of its own.
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(statement, values, prepare=True).fetchall()


def _array(values: Iterable[int | str | datetime]) -> str:
    """Return an array as PostgreSQL reads it; psycopg's own way takes long to find a type.

    Texts are those of moves and faults: they have no quotes.
    """
    return "{" + ",".join([f'"{value}"' for value in values]) + "}"


def _made(model: type[Model], names: Sequence[str], values: Sequence[Any]) -> Any:
    return model.from_db(DEFAULT_DB_ALIAS, names, values)
