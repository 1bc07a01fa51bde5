"""The statements of open turns: read them, and hand them out, which starts their clocks.

Like those of moves (`league.play.statements`), they run without a thread in the gateway.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from league.play.rows import DealtMatch, OpenTurn
from league.play.statements import MATCH, TURN, Rows, Values, columns, numbers, run_now
from league.play.turn_clocks import GRACE

_OPEN_TURN = [*TURN[:8], "opened_at", "handed_out_at"]
_DEALT_MATCH = MATCH[:7]
"""Columns in the order of the fields of `OpenTurn` and `DealtMatch`."""

OPEN = f"""
SELECT {columns("turn", _OPEN_TURN)}, {columns("match", _DEALT_MATCH)}
FROM unnest(%(bots)s::bigint[]) AS bot (id)
CROSS JOIN LATERAL (
    SELECT * FROM league_turn AS any_turn
    WHERE any_turn.bot_id = bot.id AND any_turn.decided_at IS NULL
    ORDER BY any_turn.opened_at OFFSET 0
) AS turn
CROSS JOIN LATERAL (
    SELECT * FROM league_match AS any_match
    WHERE any_match.id = turn.match_id OFFSET 0
) AS match
WHERE match.status = 'playing'
"""
"""Each subquery follows an index (decision 0095)."""

NEWEST_OPEN = """
SELECT turn.bot_id, max(turn.id)
FROM unnest(%(bots)s::bigint[]) AS waiting (bot_id)
JOIN league_turn AS turn ON turn.bot_id = waiting.bot_id AND turn.decided_at IS NULL
JOIN league_match AS match ON match.id = turn.match_id AND match.status = 'playing'
GROUP BY turn.bot_id
"""
"""Runs each second for all waiting bots: one array, where Django would send each id by itself."""

HAND_OUT = """
UPDATE league_turn AS turn
SET handed_out_at = greatest(%(now)s::timestamptz, opened_at),
    given_back_ms = least(given_back_ms, greatest(0, extract(epoch FROM
        %(now)s::timestamptz - opened_at - %(grace)s::interval) * 1000))::bigint,
    deadline = least(deadline, greatest(%(now)s::timestamptz, opened_at) + (
        deadline - opened_at - %(grace)s::interval - given_back_ms * interval '1 ms'))
WHERE id = ANY(%(turns)s::bigint[]) AND decided_at IS NULL AND handed_out_at IS NULL
RETURNING id, handed_out_at, deadline
"""
"""Starts clocks. Until then a turn's deadline counts from its opening. So the last brackets are
the time to think, and time that was lost before the clock started is no longer added. Every value
is the row's newest, so a request that gives back time at the same moment is not undone.
"""


class Receipt(NamedTuple):
    """The times of a turn whose clock has just started."""

    handed_out_at: datetime
    deadline: datetime


def open_values(bot_ids: Iterable[int]) -> Values:
    """Return the values of `OPEN`."""
    return {"bots": numbers(bot_ids)}


def open_turns(rows: Rows) -> tuple[list[OpenTurn], dict[int, DealtMatch]]:
    """Return the turns of the rows of `OPEN`, and their matches by id."""
    turns, matches = [], {}
    for row in rows:
        turns.append(OpenTurn(*row[: len(_OPEN_TURN)]))
        match = DealtMatch(*row[len(_OPEN_TURN) :])
        matches[match.pk] = match
    return turns, matches


def newest_open(bot_ids: Iterable[int]) -> dict[int, int]:
    """Return the id of each bot's turn that opened last, by bot, without bots that have none."""
    return dict(run_now(NEWEST_OPEN, {"bots": numbers(bot_ids)}))


def hand_out_values(turn_ids: Iterable[int], now: datetime) -> Values:
    """Return the values of `HAND_OUT`."""
    return {"turns": numbers(turn_ids), "now": str(now), "grace": str(GRACE)}


def receipts(rows: Rows) -> dict[int, Receipt]:
    """Return the receipts of the rows of `HAND_OUT` by the turns' ids.

    A turn that another request has handed out or decided meanwhile is not among them.
    """
    return {pk: Receipt(*times) for pk, *times in rows}
