"""The statements of moves: read live matches, write a change of each, hand out turns.

A change of a match counts only if the match is still as it was read. The write compares the number
of moves stored, which every move raises, and sets it (compare-and-set). So a plain move needs no
lock and no transaction, and moves in many matches take two statements too. The server keeps the
plans of all: planning them would take longer than running them.

The gateway runs them without a thread. So each has functions for its values and for its rows.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import psycopg
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from league import durations
from league.models import Bot
from league.play.rows import (
    MatchRow,
    MoveRow,
    OpenTurn,
    SeatRow,
    Snapshot,
    TurnRow,
)

T = TypeVar("T")

MATCH = [
    *("id", "game", "rules", "seats", "deal_seed", "plies", "attempts"),
    *("move_seconds", "bank_seconds", "status", "stored", "due_at"),  # a time comes last
]
TURN = [
    *("id", "match_id", "seat", "bot_id", "number", "ply", "deadline", "bank_ms"),
    *("illegal_answers", "decided_at", "text", "fault"),
]
_MOVE = ["match_id", "ply", "seat", "text", "fault"]
"""Columns in the order of the fields of `MatchRow`, `TurnRow` and `MoveRow`. A time takes long to
read, so each statement reads only the times that are needed.
"""


def columns(table: str, names: Sequence[str]) -> str:
    """Return columns of a table as a statement selects them."""
    return ", ".join(f"{table}.{name} AS {table}_{name}" for name in names)


READ = f"""
SELECT seat.bot_id, CASE WHEN seat.handed_over_at IS NULL THEN bot.kind END,
    {columns("match", MATCH[:-1])},
    CASE WHEN seat.seat = 0 THEN match.due_at END AS match_due_at, {columns("turn", TURN)},
    {columns("move", _MOVE)}
FROM unnest(%(matches)s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM league_match AS any_match WHERE any_match.id = wanted.id OFFSET 0
) AS match
CROSS JOIN LATERAL (
    SELECT number - 1 AS seat, bot_id, handed_over_at
    FROM unnest(match.bot_ids, match.handed_over_at) WITH ORDINALITY
        AS by_seat (bot_id, handed_over_at, number)
) AS seat
CROSS JOIN LATERAL (
    SELECT kind FROM league_bot AS any_bot WHERE any_bot.id = seat.bot_id OFFSET 0
) AS bot
LEFT JOIN LATERAL (
    SELECT * FROM league_turn AS any_turn
    WHERE any_turn.match_id = match.id AND any_turn.seat = seat.seat
    ORDER BY any_turn.number DESC LIMIT 1
) AS turn ON true
LEFT JOIN LATERAL (
    SELECT * FROM league_livemove AS any_move
    WHERE any_move.match_id = match.id AND any_move.ply >= match.plies
        AND any_move.seat = seat.seat
    LIMIT 1
) AS move ON true
WHERE match.live
ORDER BY match.id, seat.seat
"""
"""It goes from row to row by the indexes in each plan (decision 0095)."""

LOGGED = f"""
SELECT {columns("move", _MOVE)}
FROM unnest(%(matches)s::bigint[], %(begin)s::int[], %(end)s::int[])
    AS part (match_id, begin, "end")
CROSS JOIN LATERAL (
    SELECT * FROM league_livemove AS any_move
    WHERE any_move.match_id = part.match_id AND any_move.ply >= part.begin
        AND any_move.ply < part."end"
    ORDER BY any_move.ply OFFSET 0
) AS move
"""
"""The moves of matches from one ply to another, by ply."""

WRITE = """
WITH changed AS (
    UPDATE league_match AS match
    SET status = 'playing', attempts = new.attempts,
        started_at = coalesce(new.started_at, match.started_at),
        stored = match.stored + new.made, plies = new.plies, due_at = new.due_at
    FROM unnest(
        %(match)s::bigint[], %(attempts)s::int[], %(started_at)s::timestamptz[], %(stored)s::int[],
        %(made)s::int[], %(plies)s::int[], %(due_at)s::timestamptz[]
    ) AS new (id, attempts, started_at, stored, made, plies, due_at)
    WHERE match.id = new.id AND match.stored = new.stored
        AND match.status = CASE WHEN new.started_at IS NULL THEN 'playing' ELSE 'waiting' END
        AND match.attempts = new.attempts - CASE WHEN new.started_at IS NULL THEN 0 ELSE 1 END
    RETURNING match.id
), answered AS (
    UPDATE league_turn AS turn
    SET text = new.text, fault = new.fault, decided_at = new.decided_at,
        illegal_answers = turn.illegal_answers + new.illegal
    FROM changed, unnest(
        %(answered)s::bigint[], %(answered_text)s::text[], %(answered_fault)s::text[],
        %(answered_at)s::timestamptz[], %(answered_illegal)s::int[]
    ) AS new (id, text, fault, decided_at, illegal)
    WHERE turn.id = new.id AND turn.match_id = changed.id
    RETURNING turn.match_id, new.fault,
        extract(epoch FROM new.decided_at - turn.handed_out_at)::float8 AS seconds
), moved AS (
    INSERT INTO league_livemove (match_id, ply, seat, text, fault)
    SELECT new.*
    FROM unnest(
        %(move_match)s::bigint[], %(move_ply)s::int[], %(move_seat)s::int[], %(move_text)s::text[],
        %(move_fault)s::text[]
    ) AS new (match_id, ply, seat, text, fault)
    JOIN changed ON changed.id = new.match_id
), opened AS (
    INSERT INTO league_turn (
        match_id, seat, bot_id, number, ply, opened_at, deadline, bank_ms,
        given_back_ms, illegal_answers, text, fault
    )
    SELECT new.*, 0, 0, '', ''
    FROM unnest(
        %(turn_match)s::bigint[], %(turn_seat)s::int[], %(turn_bot)s::bigint[],
        %(turn_number)s::int[], %(turn_ply)s::int[], %(turn_opened_at)s::timestamptz[],
        %(turn_deadline)s::timestamptz[], %(turn_bank)s::int[]
    ) AS new (match_id, seat, bot_id, number, ply, opened_at, deadline, bank_ms)
    JOIN changed ON changed.id = new.match_id
)
SELECT changed.id, answered.fault, answered.seconds
FROM changed LEFT JOIN answered ON answered.match_id = changed.id
"""


Values = dict[str, str]
"""The values of a statement by name."""
Rows = Sequence[tuple[Any, ...]]
Run = Callable[[str, Values], Awaitable[Rows]]
"""Runs a statement without a thread, and returns its rows."""


class Answered(NamedTuple):
    """An answer to an open turn.

    Attributes:
        turn: as it is after the answer; it is open if ``decided_at`` is None.
        illegal: number of illegal answers to add to the turn, 0 or 1.
    """

    turn: TurnRow
    illegal: int


class Change(NamedTuple):
    """The change of a live match that a decision brings.

    Attributes:
        match: as it was read, but for ``plies`` and ``due_at``, which are written. If the match
            starts, also ``attempts`` is new.
        started_at: the time at which the match starts; None for a match in play.
        answered: turns that get an answer.
        moves: new moves.
        opened: new turns.
    """

    match: MatchRow
    started_at: datetime | None
    answered: Sequence[Answered]
    moves: Sequence[MoveRow]
    opened: Sequence[OpenTurn]


def read(match_ids: Iterable[int]) -> dict[int, Snapshot]:
    """Read live matches, in play or not; return them by id, without the ids that don't exist."""
    return snapshots(run_now(READ, read_values(match_ids)))


def read_values(match_ids: Iterable[int]) -> Values:
    """Return the values of `READ`."""
    return {"matches": numbers({match_id for match_id in match_ids if 0 < match_id < 2**63})}


def snapshots(rows: Rows) -> dict[int, Snapshot]:
    """Return the matches of the rows of `READ` by id."""
    return {
        match_id: _snapshot(list(of_match)) for match_id, of_match in groupby(rows, itemgetter(2))
    }


_TURN_FROM = 2 + len(MATCH)
_MOVE_FROM = _TURN_FROM + len(TURN)


def _snapshot(rows: Sequence[tuple[Any, ...]]) -> Snapshot:
    seats, turns, chosen = [], {}, {}
    for number, row in enumerate(rows):
        player = row[1] == Bot.Kind.PLAYER
        seats.append(SeatRow(row[0], player or row[1] == Bot.Kind.REMOTE, player))
        if row[_TURN_FROM] is not None:
            turns[number] = TurnRow(*row[_TURN_FROM:_MOVE_FROM])
        if row[_MOVE_FROM] is not None:
            chosen[number] = MoveRow(*row[_MOVE_FROM:])
    return Snapshot(MatchRow(*rows[0][2:_TURN_FROM]), seats, turns, chosen)


def read_moves(parts: Iterable[tuple[int, int, int]]) -> list[MoveRow]:
    """Read moves of matches: for each its id, the first ply, and the ply after the last."""
    return logged_moves(run_now(LOGGED, logged_values(parts)))


def logged_values(parts: Iterable[tuple[int, int, int]]) -> Values:
    """Return the values of `LOGGED`."""
    match_ids, begins, ends = zip(*parts, strict=True)
    return {"matches": numbers(match_ids), "begin": numbers(begins), "end": numbers(ends)}


def logged_moves(rows: Rows) -> list[MoveRow]:
    """Return the moves of the rows of `LOGGED`."""
    return [MoveRow(*row) for row in rows]


def write(changes: Iterable[Change]) -> set[int]:
    """Write changes of different matches, each completely or not at all.

    Returns:
        The ids of the matches that were written. A match that changed after it was read is not.

    Raises:
        OperationalError: two writes of several matches blocked each other; nothing is written.
    """
    return written(run_now(WRITE, write_values(changes)))


def write_values(changes: Iterable[Change]) -> Values:
    """Return the values of `WRITE`."""
    changes = sorted(changes, key=lambda change: change.match.pk)  # all lock in one order
    matches = [change.match for change in changes]
    answered = [answer for change in changes for answer in change.answered]
    moves = [move for change in changes for move in change.moves]
    opened = [turn for change in changes for turn in change.opened]
    return {
        "match": numbers(match.pk for match in matches),
        "attempts": numbers(match.attempts for match in matches),
        "started_at": _array(change.started_at for change in changes),
        "stored": numbers(match.stored for match in matches),
        "made": numbers(len(change.moves) for change in changes),
        "plies": numbers(match.plies for match in matches),
        "due_at": _array(match.due_at for match in matches),
        "answered": numbers(turn.pk for turn, _ in answered),
        "answered_text": _array(turn.text for turn, _ in answered),
        "answered_fault": _array(turn.fault for turn, _ in answered),
        "answered_at": _array(turn.decided_at for turn, _ in answered),
        "answered_illegal": numbers(illegal for _, illegal in answered),
        "move_match": numbers(move.match_id for move in moves),
        "move_ply": numbers(move.ply for move in moves),
        "move_seat": numbers(move.seat for move in moves),
        "move_text": _array(move.text for move in moves),
        "move_fault": _array(move.fault for move in moves),
        "turn_match": numbers(turn.match_id for turn in opened),
        "turn_seat": numbers(turn.seat for turn in opened),
        "turn_bot": numbers(turn.bot_id for turn in opened),
        "turn_number": numbers(turn.number for turn in opened),
        "turn_ply": numbers(turn.ply for turn in opened),
        "turn_opened_at": _array(turn.opened_at for turn in opened),
        "turn_deadline": _array(turn.deadline for turn in opened),
        "turn_bank": numbers(turn.bank_ms for turn in opened),
    }


def written(rows: Rows) -> set[int]:
    """Return the ids of the matches in the rows of `WRITE`, and note the times of their answers."""
    for _, fault, seconds in rows:
        if seconds is not None:
            durations.note("turn_answered", seconds, fault)
    return {match_id for match_id, *_ in rows}


PLANNING = "SET enable_seqscan = off"
"""Lets the plans of a connection read no table as a whole."""
PLANNED_ONCE = "SET plan_cache_mode = force_generic_plan"
"""Plans a statement once for a connection, not once for each run."""


def plan_by_index(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Run `PLANNING` on a new connection; a receiver of ``connection_created``.

    For a process that runs hardly more than these statements.
    """
    with connection.cursor() as cursor:
        cursor.execute(PLANNING)


async def run_here(statement: str, values: Values) -> Rows:
    """Run a statement on Django's connection, and block until it is over; for `at_once`."""
    return run_now(statement, values)


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing but `run_here`.

    Raises:
        RuntimeError: it waits for something else, which needs an event loop.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("the coroutine waits for an event loop")


def run_now(statement: str, values: Values) -> Rows:
    """Run a statement on Django's connection; return its rows."""
    # Django's own cursors put the values into the text, which can't be prepared.
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(statement, values, prepare=True).fetchall()


def numbers(values: Iterable[int]) -> str:
    """Return an array of whole numbers as PostgreSQL reads it."""
    return "{" + ",".join(map(str, values)) + "}"


def _array(values: Iterable[str | datetime | None]) -> str:
    """Return an array as PostgreSQL reads it; psycopg's own way takes long to find a type.

    Texts are those of moves and faults: they have no quotes.
    """
    return "{" + ",".join(["NULL" if value is None else f'"{value}"' for value in values]) + "}"
