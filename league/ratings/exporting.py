"""The export of a ladder: one file of JSON Lines, from which anyone recomputes every rating.

The order of lines is: ``ladder``; for each applied round ``round``, its ``block`` lines with the
rating changes and the records of the matches, and ``applied`` with the ratings before and after;
one ``standing`` for each bot; ``end`` with the SHA-256 of all lines before it. Rounds stand in the
order in which they were applied: their ``applied_number`` counts from 1 without a gap, while
``round`` is the number of the draw. Blocks, matches and
deals are numbered from 0, because seeds are derived from these numbers. `recompute_ladder.py`,
among the static files, reads the file with plain Python.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from django.db.models import Prefetch, Subquery

from engine.rating.elo import START
from engine.record import write
from league.models import Block, BlockBot, BlockEntry, Ladder, Match, MatchSeat, Round
from league.ratings.ledger import applied_number, revision_at, spans_of
from league.ratings.match_results import k_schedule
from league.visibility import public_seed

FORMAT = "twelfth-night-ladder/2"

_BLOCKS = 50
"""Blocks, or rounds, read at a time."""
_BYTES = 1 << 16
"""The least bytes of a piece."""


def export_ladder(ladder: Ladder) -> Iterator[bytes]:
    """Yield a ladder's file in pieces, with the rounds that are applied when it starts.

    It takes little memory, however long the ladder is. If a correction is made in the meantime,
    ``complete`` in the last line is false.
    """
    digest, count, waiting = sha256(), 0, b""
    state = _state_of(ladder)
    for line in _lines(ladder, state):
        data = line.encode("ascii") + b"\n"
        digest.update(data)
        count += 1
        waiting += data
        if len(waiting) >= _BYTES:
            yield waiting
            waiting = b""
    now = Ladder.objects.values_list("revision", flat=True).get(pk=ladder.pk)
    end = {"lines": count, "sha256": digest.hexdigest(), "complete": now == state.revision}
    yield waiting + _line("end", end).encode("ascii") + b"\n"


class _Rating(NamedTuple):
    """The numbers of a standing that the file has."""

    bot: str
    rating: int
    blocks: int
    version: int


class _State(NamedTuple):
    """The ratings of a ladder, with the number of applied rounds and the revision behind them."""

    ratings: list[_Rating]
    up_to: int
    revision: int


def _state_of(ladder: Ladder) -> _State:
    # One statement, so that ratings, revision and last round belong together.
    last = ladder.rounds.applied().order_by("-applied_number").values("applied_number")[:1]
    rows = list(
        ladder.standings.order_by("bot__name").values_list(
            "bot__name", "rating", "blocks", "version", Subquery(last), "ladder__revision"
        )
    )
    _, _, _, _, up_to, revision = rows[0] if rows else ("", 0, 0, 0, 0, ladder.revision)
    return _State([_Rating(*row[:4]) for row in rows], up_to, revision)


def _lines(ladder: Ladder, state: _State) -> Iterator[str]:
    yield _line(
        "ladder",
        {
            "format": FORMAT,
            "ladder": ladder.slug,
            "game": ladder.game,
            "rules": ladder.rules,
            "seats": ladder.seats,
            "start": START,
            "revision": state.revision,
            "rounds": state.up_to,
        },
    )
    revisions = spans_of(ladder, state.revision)
    rounds = ladder.rounds.filter(applied_number__lte=state.up_to).select_related("tournament")
    for round_ in rounds.order_by("applied_number").iterator(chunk_size=_BLOCKS):
        yield from _round_lines(round_, revision_at(revisions, applied_number(round_)))
    yield from (_line("standing", rating._asdict()) for rating in state.ratings)


def _round_lines(round_: Round, revision: int) -> Iterator[str]:
    schedule = k_schedule(round_.k_schedule)
    yield _line(
        "round",
        {
            "round": round_.number,
            "applied_number": round_.applied_number,
            "tournament": round_.tournament_id,
            "commitment": round_.commitment,
            "seed": public_seed(round_),
            "k_steps": schedule.steps,
            "k_settled": schedule.settled,
            "new_version_blocks": schedule.new_version_blocks,
        },
    )
    blocks = round_.blocks.order_by("number").prefetch_related(
        Prefetch("bots", BlockBot.objects.select_related("bot", "version").order_by("bot__name")),
        Prefetch("ledger", BlockEntry.objects.filter(revision=revision).select_related("bot")),
        Prefetch("matches", Match.objects.order_by("number")),
        Prefetch(
            "matches__seating", MatchSeat.objects.select_related("bot").order_by("match_id", "seat")
        ),
    )
    for block in blocks.iterator(chunk_size=_BLOCKS):
        yield _block_line(round_, block)
    entries = round_.ledger.filter(revision=revision).select_related("bot").order_by("bot__name")
    ratings = {row.bot.name: (row.rating_before, row.rating_after) for row in entries}
    yield _line("applied", {"round": round_.number, "ratings": ratings})


def _block_line(round_: Round, block: Block) -> str:
    void = block.state == Block.State.VOID
    line = _line(
        "block",
        {
            "round": round_.number,
            "block": block.number,
            "duplicate": block.duplicate,
            "rated": block.rated,
            "void": void,
            "bots": {seat.bot.name: seat.version.number for seat in block.bots.all()},
            "deltas": {entry.bot.name: entry.delta for entry in block.ledger.all()},
        },
    )
    matches = [] if void else [_match(match) for match in block.matches.all()]
    # A record is JSON text already; parsing it would only cost time.
    return f'{line[:-1]}, "matches": [{", ".join(matches)}]}}'


def _match(match: Match) -> str:
    seating = json.dumps([seat.bot.name for seat in match.seating.all()])
    record = write(match.record)
    return (
        f'{{"id": {match.pk}, "match": {match.number}, "seating": {seating}, "record": {record}}}'
    )


def _line(kind: str, content: dict[str, Any]) -> str:
    return json.dumps({"type": kind, **content})
