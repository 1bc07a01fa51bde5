"""Opening matches: storing them, so that they wait to be played."""

import secrets
from collections.abc import Iterable, Mapping, Sequence

from engine.blocks import BlockPlan
from engine.deals import SEED_BYTES
from engine.games import catalogue
from league.models import (
    Block,
    Bot,
    BotVersion,
    Challenge,
    Ladder,
    Match,
    PlayerTable,
    SwapBlock,
)

DEFAULT_MOVE_SECONDS, DEFAULT_BANK_SECONDS = 1.0, 30.0
"""Time control of unrated matches without a ladder."""


def open_matches(
    *,
    ladder: Ladder,
    blocks: Iterable[tuple[Block, BlockPlan]],
    versions: Mapping[int, BotVersion],
) -> None:
    """Store the matches of blocks, with the same number of statements for any number of them.

    Args:
        ladder: gives game, preset and time control.
        blocks: each with its plan.
        versions: by bot id the version that was drawn, with its bot.
    """
    _store(
        [
            (
                Match(
                    block=block,
                    number=match.index,
                    game=ladder.game,
                    rules=ladder.rules,
                    seats=len(match.seating),
                    move_seconds=ladder.move_seconds,
                    bank_seconds=ladder.bank_seconds,
                    stored_seed=match.deal_seed,
                ),
                [versions[bot] for bot in match.seating],
            )
            for block, plan in blocks
            for match in plan.matches
        ]
    )


def open_unrated_match(
    *,
    game: str,
    rules: str,
    versions: Sequence[BotVersion],
    move_seconds: float = DEFAULT_MOVE_SECONDS,
    bank_seconds: float = DEFAULT_BANK_SECONDS,
) -> Match:
    """Store a match of no block.

    Args:
        game: slug of the game.
        rules: name of the preset.
        versions: by seat; no bot twice, because a move names its match and no seat.
        move_seconds: time control.
        bank_seconds: time control.

    Raises:
        UnknownRulesError: the game or preset does not exist, or does not take this number of seats.
        ValueError: a bot has two seats.
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
        stored_seed=secrets.token_bytes(SEED_BYTES),
    )
    _store([(match, versions)])
    return match


def open_swap_match(
    *,
    ladder: Ladder,
    swap_block: SwapBlock,
    number: int,
    deal_seed: bytes,
    versions: Sequence[BotVersion],
) -> Match:
    """Store a match of a swap block; it waits until the queue has room for comparisons.

    Args:
        ladder: gives game, preset and time control.
        swap_block: the block of the match.
        number: 0, or 1 for the match with exchanged seats.
        deal_seed: of both matches.
        versions: by seat, two of them of one bot.
    """
    match = Match(
        swap_block=swap_block,
        number=number,
        game=ladder.game,
        rules=ladder.rules,
        seats=ladder.seats,
        move_seconds=ladder.move_seconds,
        bank_seconds=ladder.bank_seconds,
        stored_seed=deal_seed,
    )
    _store([(match, versions)])
    return match


def open_challenge_matches(
    *,
    challenge: Challenge,
    plan: BlockPlan,
    versions: Mapping[int, BotVersion],
    move_seconds: float,
    bank_seconds: float,
) -> None:
    """Store the matches of a challenge.

    Args:
        challenge: gives game and preset.
        plan: of its block.
        versions: by bot id, each with its bot.
        move_seconds: time control.
        bank_seconds: time control.
    """
    _store(
        [
            (
                Match(
                    challenge=challenge,
                    number=match.index,
                    game=challenge.game,
                    rules=challenge.rules,
                    seats=len(match.seating),
                    move_seconds=move_seconds,
                    bank_seconds=bank_seconds,
                    stored_seed=match.deal_seed,
                ),
                [versions[bot] for bot in match.seating],
            )
            for match in plan.matches
        ]
    )


def open_player_match(
    *, table: PlayerTable, versions: Sequence[BotVersion], substitute: Bot
) -> Match:
    """Store the match of a table of players.

    Args:
        table: gives game, preset and time for a move; there is no bank.
        versions: by seat, each with its bot; a player's is that of the player's bot.
        substitute: the house bot that plays on for players who leave.
    """
    match = Match(
        table=table,
        game=table.game,
        rules=table.rules,
        seats=len(versions),
        move_seconds=table.move_seconds,
        bank_seconds=0.0,
        stored_seed=secrets.token_bytes(SEED_BYTES),
    )
    _store([(match, versions)], substitute)
    return match


def _store(
    matches: Sequence[tuple[Match, Sequence[BotVersion]]], substitute: Bot | None = None
) -> None:
    """Store matches, each with its versions by seat, and the house bot that replaces players."""
    over_api = (Bot.Kind.REMOTE, Bot.Kind.PLAYER)
    for match, versions in matches:
        match.live = any(version.bot.kind in over_api for version in versions)
        match.bot_ids = [version.bot_id for version in versions]
        match.version_ids = [version.pk for version in versions]
        if substitute is not None:
            match.substitute_ids = [
                substitute.pk if version.bot.kind == Bot.Kind.PLAYER else None
                for version in versions
            ]
    Match.objects.bulk_create(match for match, _ in matches)
