"""Opening matches."""

import secrets
from collections.abc import Mapping, Sequence

from django.db import transaction

from engine.deals import SEED_BYTES, commitment
from engine.games import catalogue
from engine.rating.blocks import PlannedMatch
from league.models import Block, Bot, BotVersion, Ladder, Match, MatchSeat, SwapBlock


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
    match = Match(
        block=block,
        number=plan.index,
        game=ladder.game,
        rules=ladder.rules,
        seats=len(plan.seating),
        move_seconds=ladder.move_seconds,
        bank_seconds=ladder.bank_seconds,
        deal_seed=plan.deal_seed,
    )
    return _store(match, [versions[bot] for bot in plan.seating])


def open_unrated_match(
    *,
    game: str,
    rules: str,
    versions: Sequence[BotVersion],
    move_seconds: float = 1.0,
    bank_seconds: float = 30.0,
) -> Match:
    """Store a match of no block, waiting to be played.

    Args:
        game: slug of the game.
        rules: name of the preset.
        versions: who plays, by seat; no bot twice, as it says only which match it moves in.
        move_seconds: time control.
        bank_seconds: time control.

    Raises:
        UnknownRulesError: no such game or preset, or it does not take that many seats.
        ValueError: a bot sits twice.
    """
    catalogue.find(game).preset(rules).check_seats(len(versions))
    if len({version.bot_id for version in versions}) < len(versions):
        raise ValueError("a bot has one seat in a match")
    match = Match(
        game=game,
        rules=rules,
        seats=len(versions),
        move_seconds=move_seconds,
        bank_seconds=bank_seconds,
        deal_seed=secrets.token_bytes(SEED_BYTES),
    )
    return _store(match, versions)


def open_swap_match(
    *,
    ladder: Ladder,
    swap_block: SwapBlock,
    number: int,
    deal_seed: bytes,
    versions: Sequence[BotVersion],
) -> Match:
    """Store a match of a swap block, waiting to be played once there is nothing better to do.

    Args:
        ladder: gives game, preset and time control.
        swap_block: that the match belongs to.
        number: 0, or 1 for that with the seats exchanged.
        deal_seed: of both.
        versions: who plays, by seat, two of them of one bot.
    """
    match = Match(
        swap_block=swap_block,
        number=number,
        game=ladder.game,
        rules=ladder.rules,
        seats=ladder.seats,
        move_seconds=ladder.move_seconds,
        bank_seconds=ladder.bank_seconds,
        deal_seed=deal_seed,
    )
    return _store(match, versions)


def _store(match: Match, versions: Sequence[BotVersion]) -> Match:
    match.commitment = commitment(bytes(match.deal_seed))
    match.live = any(version.bot.kind == Bot.Kind.REMOTE for version in versions)
    with transaction.atomic():
        match.save()
        MatchSeat.objects.bulk_create(
            MatchSeat(match=match, seat=seat, bot=version.bot, version=version)
            for seat, version in enumerate(versions)
        )
    return match
