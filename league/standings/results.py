"""From stored matches to the blocks that the pure rating code folds."""

from collections.abc import Collection, Iterable

from engine.rating import elo
from engine.rating.blocks import MatchResult, rated_places
from engine.referee import FAULTS_TO_FORFEIT
from league.models import Block, Match, Round


def k_schedule(stored: dict[str, object]) -> elo.KSchedule:
    """Return the K schedule that a ladder or round has stored."""
    fields = dict(stored)
    if "steps" in fields:
        steps: Iterable[tuple[int, int]] = fields["steps"]  # type: ignore[assignment]
        fields["steps"] = tuple((blocks, k) for blocks, k in steps)
    return elo.KSchedule(**fields)  # type: ignore[arg-type]


def round_to_rate(round_: Round, void: Collection[int] = ()) -> elo.Round:
    """Return a round whose blocks are all finished or void, from the records alone.

    Args:
        round_: to rate.
        void: ids of blocks to take as void, beyond those that are.
    """
    blocks = round_.blocks.prefetch_related("bots__version", "matches__seating")
    return elo.Round(
        blocks=[_block_to_rate(block, block.pk in void) for block in blocks],
        k_schedule=k_schedule(round_.k_schedule),
    )


def _block_to_rate(block: Block, void: bool) -> elo.Block:
    void = void or block.state == Block.State.VOID
    return elo.Block(
        number=block.number,
        versions={seat.bot_id: seat.version.number for seat in block.bots.all()},
        results=[] if void else [match_result(match) for match in block.matches.all()],
        rated=block.rated,
        void=void,
    )


def match_result(match: Match) -> MatchResult:
    """Return who sat where and the places that count, as the match's record has them."""
    record = match.record
    faults = [fault.seat for fault in record.faults]
    forfeited = [seat for seat in range(record.seats) if faults.count(seat) >= FAULTS_TO_FORFEIT]
    seating = sorted(match.seating.all(), key=lambda seat: seat.seat)
    return MatchResult(
        seating=tuple(seat.bot_id for seat in seating),
        places=rated_places(record.places, forfeited),
    )
