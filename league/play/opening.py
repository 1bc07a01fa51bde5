"""Opening matches."""

from collections.abc import Mapping

from engine.deals import commitment
from engine.rating.blocks import PlannedMatch
from league.models import Block, BotVersion, Ladder, Match, MatchSeat


def open_match(
    *, ladder: Ladder, block: Block, plan: PlannedMatch, versions: Mapping[int, BotVersion]
) -> Match:
    """Store a match of a block, waiting to be played.

    Args:
        ladder: gives game, preset and time control.
        block: that the match belongs to.
        plan: deal seed, and bot id by seat.
        versions: the version of each bot that was drawn, by bot id.
    """
    match = Match.objects.create(
        block=block,
        number=plan.index,
        game=ladder.game,
        rules=ladder.rules,
        seats=ladder.seats,
        move_seconds=ladder.move_seconds,
        bank_seconds=ladder.bank_seconds,
        deal_seed=plan.deal_seed,
        commitment=commitment(plan.deal_seed),
    )
    MatchSeat.objects.bulk_create(
        MatchSeat(match=match, seat=seat, bot_id=bot, version=versions[bot])
        for seat, bot in enumerate(plan.seating)
    )
    return match
