"""A ladder as one file of JSON Lines, from which anyone recomputes every rating of it.

Lines come in this order: ``ladder``; for each round that is rated ``round``, its ``block`` lines
with the records of their matches and what each gave every bot, and ``applied`` with the ratings
before and after; a ``standing`` a bot; ``end``, with the SHA-256 of all before it. Blocks, matches
and deals are numbered from 0, as seeds are made of these numbers. `recompute_ladder.py`, among the
static files, reads it with nothing but Python.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from django.db.models import F, Prefetch, Subquery

from engine.rating.elo import START
from league.models import Block, BlockBot, BlockEntry, Ladder, Match, MatchSeat, Round, Standing
from league.ratings.ledger import revision_at, spans_of
from league.ratings.match_results import k_schedule
from league.visibility import may_see_seed

FORMAT = "twelfth-night-ladder/1"

_BLOCKS = 50
"""Read at a time."""
_BYTES = 1 << 16
"""Handed out at a time, at least."""


def export_ladder(ladder: Ladder) -> Iterator[bytes]:
    """Yield a ladder's file in pieces, as its ratings are now; rounds rated meanwhile are left out.

    Takes little memory, however long the ladder is. Should it be corrected meanwhile, the last
    line says that the file is not complete.
    """
    digest, count, waiting = sha256(), 0, b""
    for line in _lines(ladder):
        data = line.encode("ascii") + b"\n"
        digest.update(data)
        count += 1
        waiting += data
        if len(waiting) >= _BYTES:
            yield waiting
            waiting = b""
    now = Ladder.objects.values_list("revision", flat=True).get(pk=ladder.pk)
    end = {"lines": count, "sha256": digest.hexdigest(), "complete": now == ladder.revision}
    yield waiting + _line("end", end).encode("ascii") + b"\n"


def _lines(ladder: Ladder) -> Iterator[str]:
    # One statement, so that standings, revision and last round belong together.
    last = ladder.rounds.filter(applied_at__isnull=False).order_by("-number")
    standings = list(
        ladder.standings.select_related("bot")
        .annotate(up_to=Subquery(last.values("number")[:1]), revision=F("ladder__revision"))
        .order_by("bot__name")
    )
    if standings:
        ladder.revision = standings[0].revision  # type: ignore[attr-defined]
    up_to = standings[0].up_to if standings else 0  # type: ignore[attr-defined]
    yield _line(
        "ladder",
        {
            "format": FORMAT,
            "ladder": ladder.slug,
            "game": ladder.game,
            "rules": ladder.rules,
            "seats": ladder.seats,
            "start": START,
            "revision": ladder.revision,
            "rounds": up_to,
        },
    )
    revisions = spans_of(ladder)
    rounds = ladder.rounds.filter(number__lte=up_to).select_related("tournament")
    for round_ in rounds.order_by("number").iterator(chunk_size=_BLOCKS):
        yield from _round_lines(round_, revision_at(revisions, round_.number))
    yield from map(_standing_line, standings)


def _round_lines(round_: Round, revision: int) -> Iterator[str]:
    schedule = k_schedule(round_.k_schedule)
    yield _line(
        "round",
        {
            "round": round_.number,
            "tournament": round_.tournament_id,
            "commitment": round_.commitment,
            "seed": bytes(round_.seed).hex() if may_see_seed(round_) else None,
            "k_steps": schedule.steps,
            "k_settled": schedule.settled,
            "new_version_blocks": schedule.new_version_blocks,
        },
    )
    blocks = round_.blocks.order_by("number").prefetch_related(
        Prefetch("bots", BlockBot.objects.select_related("bot", "version").order_by("bot__name")),
        Prefetch(
            "ledger", BlockEntry.objects.filter(revision=revision).select_related("bot"), "deltas"
        ),
        Prefetch("matches", Match.objects.order_by("number")),
        Prefetch(
            "matches__seating", MatchSeat.objects.select_related("bot").order_by("match_id", "seat")
        ),
    )
    for block in blocks.iterator(chunk_size=_BLOCKS):
        yield _block_line(round_, block, block.deltas)  # type: ignore[attr-defined]
    entries = round_.ledger.filter(revision=revision).select_related("bot").order_by("bot__name")
    ratings = {row.bot.name: (row.rating_before, row.rating_after) for row in entries}
    yield _line("applied", {"round": round_.number, "ratings": ratings})


def _block_line(round_: Round, block: Block, deltas: Sequence[BlockEntry]) -> str:
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
            "deltas": {entry.bot.name: entry.delta for entry in deltas},
        },
    )
    matches = [] if void else [_match(match) for match in block.matches.all()]
    # Records are stored as the JSON that they are here: not parsed, to be written again.
    return f'{line[:-1]}, "matches": [{", ".join(matches)}]}}'


def _match(match: Match) -> str:
    seating = json.dumps([seat.bot.name for seat in match.seating.all()])
    record = zlib.decompress(bytes(match.packed_record or b"")).decode("ascii")
    return (
        f'{{"id": {match.pk}, "match": {match.number}, "seating": {seating}, "record": {record}}}'
    )


def _standing_line(row: Standing) -> str:
    numbers = {"rating": row.rating, "blocks": row.blocks, "version": row.version}
    return _line("standing", {"bot": row.bot.name, **numbers})


def _line(kind: str, content: dict[str, Any]) -> str:
    return json.dumps({"type": kind, **content})
