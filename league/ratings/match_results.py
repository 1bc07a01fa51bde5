"""From stored matches to the blocks that the pure rating code folds."""

import zlib
from collections.abc import Collection, Iterable
from typing import NamedTuple

from engine.rating import elo
from engine.rating.blocks import MatchResult, rated_places
from engine.record import Record
from engine.referee import FAULTS_TO_FORFEIT
from league.models import Block, Match, Round


class SeatDifference(NamedTuple):
    """What a seat has stored of its match and isn't what the match's record gives.

    Attributes:
        match: with its record and seats.
        bot: id of the one in the seat.
        name: ``place`` or ``score``.
        stored: what the seat has.
        recorded: what it should have.
    """

    match: Match
    bot: int
    name: str
    stored: int | None
    recorded: int


def k_schedule(stored: dict[str, object]) -> elo.KSchedule:
    """Return the K schedule that a ladder or round has stored."""
    fields = dict(stored)
    if "steps" in fields:
        steps: Iterable[tuple[int, int]] = fields["steps"]  # type: ignore[assignment]
        fields["steps"] = tuple((blocks, k) for blocks, k in steps)
    return elo.KSchedule(**fields)  # type: ignore[arg-type]


def round_to_rate(
    round_: Round, void: Collection[int] = (), wrong: list[SeatDifference] | None = None
) -> elo.Round:
    """Return a round whose blocks are all finished or void, from the records alone.

    Args:
        round_: to rate.
        void: ids of blocks to take as void, beyond those that are.
        wrong: where seats have something else stored than the records give is added to this.

    Raises:
        ValueError: a record can't be read.
    """
    blocks = round_.blocks.prefetch_related("bots__version", "matches__seating")
    wrong = [] if wrong is None else wrong
    return elo.Round(
        blocks=[_block_to_rate(block, block.pk in void, wrong) for block in blocks],
        k_schedule=k_schedule(round_.k_schedule),
    )


def _block_to_rate(block: Block, void: bool, wrong: list[SeatDifference]) -> elo.Block:
    void = void or block.state == Block.State.VOID
    return elo.Block(
        number=block.number,
        versions={seat.bot_id: seat.version.number for seat in block.bots.all()},
        results=[] if void else [match_result(match, wrong) for match in block.matches.all()],
        rated=block.rated,
        void=void,
    )


def match_result(match: Match, wrong: list[SeatDifference] | None = None) -> MatchResult:
    """Return who sat where, the places that count and the points, as the match's record has them.

    Args:
        match: finished.
        wrong: what its seats have stored otherwise is added to this.

    Raises:
        ValueError: its record can't be read, or is none of its seats.
    """
    try:
        record = match.record
    except (ValueError, zlib.error) as error:
        raise ValueError(f"the record of match {match.pk} can't be read: {error}") from error
    places = rated_places(record.places, forfeited_in(record))
    seating = sorted(match.seating.all(), key=lambda seat: seat.seat)
    if [seat.seat for seat in seating] != list(range(record.seats)):
        raise ValueError(f"match {match.pk} has {len(seating)} of its {record.seats} seats")
    if wrong is not None:
        for seat in seating:
            recorded = {"place": places[seat.seat], "score": record.scores[seat.seat]}
            for name, number in recorded.items():
                if (stored := getattr(seat, name)) != number:
                    wrong.append(SeatDifference(match, seat.bot_id, name, stored, number))
    return MatchResult(tuple(seat.bot_id for seat in seating), places, tuple(record.scores))


def forfeited_in(record: Record) -> list[int]:
    """Return the seats that forfeited a match, by its record."""
    faults = [fault.seat for fault in record.faults]
    return [seat for seat in range(record.seats) if faults.count(seat) >= FAULTS_TO_FORFEIT]
