"""The statements of moves: live matches read, all that moves bring in them written, turns read.

What is written of a match counts only if the match is still as it was read: it is compared and set
on the number of moves stored, which every decision of a turn raises. So a plain move needs no lock
and no transaction around it, and the moves of a bot in many matches are two statements too. All
are prepared at the server, where planning them would take longer than running them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import psycopg
from django.db import connection

from league.models import Bot, Match
from league.play.rows import MatchRow, MoveRow, TurnRow

_MATCH = [
    *("id", "game", "rules", "seats", "deal_seed", "plies", "attempts"),
    *("move_seconds", "bank_seconds", "status", "stored", "due_at"),
]
_TURN = [
    *("id", "match_id", "seat", "bot_id", "number", "ply", "deadline", "bank_ms"),
    *("illegal_answers", "decided_at", "text", "fault"),
]
_MOVE = ["match_id", "ply", "seat", "text", "fault"]
"""In the order of the fields of `MatchRow`, `TurnRow` and `MoveRow`."""


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
WHERE match.id = ANY(%(matches)s::bigint[]) AND match.live
ORDER BY match.id, seat.seat
"""

OPEN = f"""
SELECT {_columns("turn", [*_TURN[:8], "opened_at", "handed_out_at"])},
    {_columns("match", _MATCH[:7])}
FROM league_turn AS turn
JOIN league_match AS match ON match.id = turn.match_id
WHERE turn.bot_id = %(bot)s AND turn.decided_at IS NULL AND match.status = 'playing'
"""

WRITE = """
WITH gone_on AS (
    UPDATE league_match AS match
    SET stored = match.stored + new.made, plies = new.plies, due_at = new.due_at
    FROM unnest(
        %(match)s::bigint[], %(attempts)s::int[], %(stored)s::int[], %(made)s::int[],
        %(plies)s::int[], %(due_at)s::timestamptz[]
    ) AS new (id, attempts, stored, made, plies, due_at)
    WHERE match.id = new.id AND match.status = 'playing'
        AND match.attempts = new.attempts AND match.stored = new.stored
    RETURNING match.id
), decided AS (
    UPDATE league_turn AS turn SET text = new.text, fault = new.fault, decided_at = new.decided_at
    FROM gone_on, unnest(
        %(decided)s::bigint[], %(decided_text)s::text[], %(decided_fault)s::text[],
        %(decided_at)s::timestamptz[]
    ) AS new (id, text, fault, decided_at)
    WHERE turn.id = new.id AND turn.match_id = gone_on.id
), moved AS (
    INSERT INTO league_livemove (match_id, ply, seat, text, fault)
    SELECT new.*
    FROM unnest(
        %(move_match)s::bigint[], %(move_ply)s::int[], %(move_seat)s::int[], %(move_text)s::text[],
        %(move_fault)s::text[]
    ) AS new (match_id, ply, seat, text, fault)
    JOIN gone_on ON gone_on.id = new.match_id
), opened AS (
    INSERT INTO league_turn (
        match_id, seat, bot_id, number, ply, opened_at, deadline, bank_ms,
        illegal_answers, text, fault
    )
    SELECT new.*, 0, '', ''
    FROM unnest(
        %(turn_match)s::bigint[], %(turn_seat)s::int[], %(turn_bot)s::bigint[],
        %(turn_number)s::int[], %(turn_ply)s::int[], %(turn_opened_at)s::timestamptz[],
        %(turn_deadline)s::timestamptz[], %(turn_bank)s::int[]
    ) AS new (match_id, seat, bot_id, number, ply, opened_at, deadline, bank_ms)
    JOIN gone_on ON gone_on.id = new.match_id
)
SELECT id FROM gone_on
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
        match: in play or not.
        seats: who sits where.
        turns: the last of each seat that has had one.
        chosen: the moves that wait for the last of their phase, by seat.
    """

    match: MatchRow
    seats: Sequence[Seat]
    turns: dict[int, TurnRow]
    chosen: dict[int, MoveRow]


class Change(NamedTuple):
    """What moves bring in a match.

    Attributes:
        match: as it was read, but for ``plies`` and ``due_at``, which are written; ``stored`` is
            raised.
        decided: turns with what was played in them.
        moves: those made.
        opened: turns to ask.
    """

    match: Match | MatchRow
    decided: Sequence[TurnRow]
    moves: Sequence[MoveRow]
    opened: Sequence[TurnRow]


def read(match_ids: Iterable[int]) -> dict[int, Sight]:
    """Read live matches, in play or not, by id; those that aren't there are left out."""
    wanted = [match_id for match_id in match_ids if 0 < match_id < 2**63]
    rows = _run(READ, {"matches": _array(wanted)}) if wanted else []
    return {match_id: _sight(list(of_match)) for match_id, of_match in groupby(rows, itemgetter(2))}


_TURN_FROM = 2 + len(_MATCH)
_MOVE_FROM = _TURN_FROM + len(_TURN)


def _sight(rows: Sequence[tuple[Any, ...]]) -> Sight:
    seats, turns, chosen = [], {}, {}
    for number, row in enumerate(rows):
        seats.append(Seat(row[0], row[1] == Bot.Kind.REMOTE))
        if row[_TURN_FROM] is not None:
            turns[number] = TurnRow(*row[_TURN_FROM:_MOVE_FROM])
        if row[_MOVE_FROM] is not None:
            chosen[number] = MoveRow(*row[_MOVE_FROM:])
    return Sight(MatchRow(*rows[0][2:_TURN_FROM]), seats, turns, chosen)


def read_open_turns(bot_id: int) -> tuple[list[TurnRow], dict[int, MatchRow]]:
    """Read the open turns of a bot, and by id the matches that they are in."""
    turns, matches = [], {}
    for row in _run(OPEN, {"bot": str(bot_id)}):
        turns.append(TurnRow(*row[:8], opened_at=row[8], handed_out_at=row[9]))
        match = MatchRow(*row[10:])
        matches[match.pk] = match
    return turns, matches


def write(changes: Iterable[Change]) -> set[int]:
    """Write what moves brought in matches, of each all or nothing.

    Returns:
        The ids of the matches that were written: not those that changed since they were read.

    Raises:
        OperationalError: two that write several matches were in each other's way; nothing is
            written.
    """
    changes = sorted(changes, key=lambda change: change.match.pk)  # all lock in one order
    matches = [change.match for change in changes]
    decided = [turn for change in changes for turn in change.decided]
    moves = [move for change in changes for move in change.moves]
    opened = [turn for change in changes for turn in change.opened]
    rows = _run(
        WRITE,
        {
            "match": _array(match.pk for match in matches),
            "attempts": _array(match.attempts for match in matches),
            "stored": _array(match.stored for match in matches),
            "made": _array(len(change.moves) for change in changes),
            "plies": _array(match.plies for match in matches),
            "due_at": _array(match.due_at for match in matches),
            "decided": _array(turn.pk for turn in decided),
            "decided_text": _array(turn.text for turn in decided),
            "decided_fault": _array(turn.fault for turn in decided),
            "decided_at": _array(turn.decided_at for turn in decided),
            "move_match": _array(move.match_id for move in moves),
            "move_ply": _array(move.ply for move in moves),
            "move_seat": _array(move.seat for move in moves),
            "move_text": _array(move.text for move in moves),
            "move_fault": _array(move.fault for move in moves),
            "turn_match": _array(turn.match_id for turn in opened),
            "turn_seat": _array(turn.seat for turn in opened),
            "turn_bot": _array(turn.bot_id for turn in opened),
            "turn_number": _array(turn.number for turn in opened),
            "turn_ply": _array(turn.ply for turn in opened),
            "turn_opened_at": _array(turn.opened_at for turn in opened),
            "turn_deadline": _array(turn.deadline for turn in opened),
            "turn_bank": _array(turn.bank_ms for turn in opened),
        },
    )
    written = {match_id for (match_id,) in rows}
    for change in changes:
        change.match.stored += len(change.moves) * (change.match.pk in written)
    return written


def _run(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    # Django's own cursors put the values into the text, which can't be prepared.
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(statement, values, prepare=True).fetchall()


def _array(values: Iterable[int | str | datetime]) -> str:
    """Return an array as PostgreSQL reads it; psycopg's own way takes long to find a type.

    Texts are those of moves and faults: they have no quotes.
    """
    return "{" + ",".join([f'"{value}"' for value in values]) + "}"
