"""The result of a match: the one module from which ratings, tournaments and fair play read it.

The record is the source. `match_result` derives seating, rated places and scores from it.

- Ratings: `round_to_rate` gives a round's results to the fold. What the fold used is packed in the
  same transaction (`league.ratings.packing`), and performance reads these packs.
- Comparisons call `match_result` with versions in the place of bots.
- Tournaments and fair play read thousands of matches for one page; unpacking a record takes about a
  millisecond. So `stored_results` reads a copy in bulk: the columns ``place`` and ``score`` of
  `MatchSeat`. `league.play` writes the copy with the record, in one statement.
  Pages and the API show a single match from the same columns.

The copy is proven equal to the record twice: `rewrite_wrong_copies` compares it when the round is
applied, and each recompute compares it again and raises the alarm (`SeatDifference`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import structlog
from structlog.contextvars import bound_contextvars

from engine.rating import elo
from engine.rating.luck import luck as luck_of
from engine.rating.results import MatchResult, forfeited_in, places_of
from engine.record import Record
from league import play
from league.models import Block, Match, MatchSeat, Round
from league.models.matches import MatchSeatQuerySet

log = structlog.get_logger(__name__)


class SeatDifference(NamedTuple):
    """A number stored beside a seat that differs from the match's record.

    Attributes:
        match: with its record and seats.
        bot: id of the bot in the seat.
        name: ``place``, ``score``, ``forfeited`` or ``faults``.
        stored: the number beside the seat.
        recorded: the number that the record gives.
    """

    match: Match
    bot: int
    name: str
    stored: int | None
    recorded: int


class StoredResult(NamedTuple):
    """The result of a finished match, with the ids of its round and block."""

    round: int
    block: int
    result: MatchResult


def k_schedule(stored: dict[str, object]) -> elo.KSchedule:
    """Return the K schedule from the JSON of a ladder or round."""
    fields = dict(stored)
    if "steps" in fields:
        steps: Iterable[tuple[int, int]] = fields["steps"]  # type: ignore[assignment]  # JSON
        fields["steps"] = tuple((blocks, k) for blocks, k in steps)
    return elo.KSchedule(**fields)  # type: ignore[arg-type]  # JSON


def round_to_rate(
    round_: Round,
    void: Collection[int] = (),
    wrong: list[SeatDifference] | None = None,
    *,
    restored: Collection[int] = (),
) -> elo.Round:
    """Return a closed round (all blocks finished or void) from the records alone.

    Args:
        round_: to rate.
        void: ids of blocks to treat as void, beyond the void ones.
        wrong: receives each number beside a seat that differs from the record.
        restored: ids of void blocks to treat as finished.

    Raises:
        ValueError: a record can't be read.
    """
    blocks = round_.blocks.prefetch_related("bots__version", "matches__seating")
    return elo.Round(
        blocks=[_block_to_rate(block, _is_void(block, void, restored), wrong) for block in blocks],
        k_schedule=k_schedule(round_.k_schedule),
    )


def _is_void(block: Block, void: Collection[int], restored: Collection[int]) -> bool:
    if block.pk in void:
        return True
    return block.state == Block.State.VOID and block.pk not in restored


def _block_to_rate(block: Block, void: bool, wrong: list[SeatDifference] | None) -> elo.Block:
    matches = [] if void else list(block.matches.all())
    own_deals = not block.duplicate
    return elo.Block(
        number=block.number,
        versions={seat.bot_id: seat.version.number for seat in block.bots.all()},
        results=[match_result(match, wrong, with_luck=own_deals) for match in matches],
        rated=block.rated,
        void=void,
    )


def match_result(
    match: Match,
    wrong: list[SeatDifference] | None = None,
    *,
    of_versions: bool = False,
    with_luck: bool = False,
) -> MatchResult:
    """Return seating, rated places and scores of a finished match, from its record.

    Args:
        match: finished, its seats prefetched if there are many.
        wrong: receives each number beside a seat that differs from the record.
        of_versions: whether the seating has the ids of bot versions, not of bots.
        with_luck: whether to add the seats' luck with their cards; only for blocks whose matches
            have a deal each.

    Raises:
        ValueError: the record can't be read, or its number of seats differs from the match's.
    """
    try:
        record = match.record
    except ValueError as error:
        raise ValueError(f"the record of match {match.pk} can't be read: {error}") from error
    places = places_of(record)
    seating = sorted(match.seating.all(), key=lambda seat: seat.seat)
    if [seat.seat for seat in seating] != list(range(record.seats)):
        raise ValueError(f"match {match.pk} has {len(seating)} of its {record.seats} seats")
    if wrong is not None:
        wrong.extend(_differences(match, seating, record, places))
    ids = tuple(seat.version_id if of_versions else seat.bot_id for seat in seating)
    luck = luck_of(record) or () if with_luck else ()
    return MatchResult(ids, places, tuple(record.scores), luck)


def _differences(
    match: Match, seating: Sequence[MatchSeat], record: Record, places: Sequence[int]
) -> Iterator[SeatDifference]:
    forfeited = forfeited_in(record)
    for seat in seating:
        recorded = {
            "place": places[seat.seat],
            "score": record.scores[seat.seat],
            "forfeited": seat.seat in forfeited,
            "faults": sum(fault.seat == seat.seat for fault in record.faults),
        }
        for name, number in recorded.items():
            if (stored := getattr(seat, name)) != number:
                yield SeatDifference(match, seat.bot_id, name, stored, number)


def rewrite_wrong_copies(wrong: Iterable[SeatDifference]) -> None:
    """Store the results of matches again from their records, where the copies differ."""
    for match in {difference.match for difference in wrong}:
        with bound_contextvars(match_id=match.pk):
            log.warning("a stored result differed from the record; it is stored again")
            play.note_results(match, match.record, forfeited_in(match.record))


def stored_results(seats: MatchSeatQuerySet) -> Iterator[StoredResult]:
    """Yield the stored results of finished matches, in the order of blocks and match numbers.

    Args:
        seats: all seats of the matches wanted.
    """
    rows = (
        seats.in_finished()
        .order_by("match__block", "match__number", "seat")
        .values_list("match__block__round", "match__block", "match", "bot", "place", "score")
    )
    for (round_, block, _), of_match in groupby(rows.iterator(), itemgetter(0, 1, 2)):
        bots, places, scores = zip(*(row[3:] for row in of_match), strict=True)
        yield StoredResult(round_, block, MatchResult(bots, places, scores))
