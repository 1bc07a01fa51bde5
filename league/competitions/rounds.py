"""Open a round: store the blocks of drawn tables, with matches that wait to be played."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Max

from engine.blocks import derive_block_seed, plan_block
from engine.deals import commitment
from engine.pairing import Table
from league.models import (
    Block,
    BlockBot,
    Bot,
    BotVersion,
    Bye,
    Ladder,
    Round,
    TableCount,
    Tournament,
)
from league.play import open_matches


class Before(NamedTuple):
    """The blocks that a table of odd size has played before.

    Attributes:
        blocks: their number.
        labels: the bots by label in the last one (`engine.blocks`); a second block takes them over.
    """

    blocks: int
    labels: tuple[int, ...]


def open_round(
    *,
    ladder: Ladder,
    tables: Sequence[Table],
    seed: bytes,
    tournament: Tournament | None = None,
    stage: int | None = None,
    extra: int = 0,
    byes: Mapping[int, int] | None = None,
    first_block: int = 0,
    played: Mapping[tuple[int, ...], Before] | None = None,
    replaces: Block | None = None,
    placed: Bot | None = None,
) -> Round:
    """Store a round with its blocks and matches; the number of statements is always the same.

    Call it in a transaction that holds the ladder's lock, so that round numbers have no gap.

    Args:
        ladder: rates the round.
        tables: the bots of each block; a table of several blocks appears several times.
        seed: 32 secret bytes; all random numbers of the round are derived from it.
        tournament: of the round, if any.
        stage: its number in the tournament.
        extra: as in `Round`.
        byes: number of blocks missed, by bot.
        first_block: number of the first block, so that all blocks of one seed differ.
        played: what tables have played before, in their tournament or on their ladder, by their
            bots, ascending. Every second block of an odd table reverses the seat orders of the
            block before.
        replaces: the void block that the round's only table plays again, if any.
        placed: the bot whose first blocks these are, if any.
    """
    last = ladder.rounds.aggregate(last=Max("number"))["last"] or 0
    round_ = Round.objects.create(
        ladder=ladder,
        number=last + 1,
        tournament=tournament,
        stage=stage,
        extra=extra,
        seed=seed,
        commitment=commitment(seed),
        k_schedule=ladder.k_schedule,
        replays=replaces.round if replaces else None,
        placed=placed,
    )
    Bye.objects.bulk_create(
        Bye(round=round_, bot_id=bot, blocks=blocks) for bot, blocks in (byes or {}).items()
    )
    before = dict(played or {})
    bots = Bot.objects.select_related("current").in_bulk({b for t in tables for b in t.bots})
    versions = _versions(bots.values())
    blocks = [
        Block(
            round=round_,
            number=number,
            duplicate=all(bots[bot].kind != Bot.Kind.REMOTE for bot in table.bots),
            rated=table.rated,
            replaces=replaces,
        )
        for number, table in enumerate(tables, first_block)
    ]
    plans = []
    for block, table in zip(blocks, tables, strict=True):
        blocks_before, labels = before.get(table.bots, (0, None))
        plan = plan_block(
            derive_block_seed(seed, block.number),
            table.bots,
            duplicate=block.duplicate,
            odd_repeat=blocks_before % 2 == 1,
            labels=labels,
        )
        before[table.bots] = Before(blocks_before + 1, plan.bots)
        plans.append(plan)
    if played is not None and tournament is None:
        _store(ladder, {table.bots: before[table.bots] for table in tables})
    Block.objects.bulk_create(blocks)
    BlockBot.objects.bulk_create(
        BlockBot(block=block, bot=bots[bot], version=versions[bot])
        for block, table in zip(blocks, tables, strict=True)
        for bot in table.bots
    )
    open_matches(ladder=ladder, blocks=zip(blocks, plans, strict=True), versions=versions)
    return round_


def played_before(ladder: Ladder, tables: Iterable[Table]) -> dict[tuple[int, ...], Before]:
    """Return what tables have played before in rounds of the ladder itself.

    Call it under the ladder's lock. A table without a block is left out.
    """
    key = {_key(table.bots): table.bots for table in tables}
    rows = ladder.table_counts.filter(bots__in=key).values_list("bots", "blocks", "labels")
    return {key[bots]: Before(blocks, _bots(labels)) for bots, blocks, labels in rows}


def _store(ladder: Ladder, played: Mapping[tuple[int, ...], Before]) -> None:
    TableCount.objects.bulk_create(
        [
            TableCount(ladder=ladder, bots=_key(bots), blocks=now.blocks, labels=_key(now.labels))
            for bots, now in played.items()
        ],
        update_conflicts=True,
        unique_fields=["ladder", "bots"],
        update_fields=["blocks", "labels"],
    )


def _key(bots: Iterable[int]) -> str:
    return ",".join(map(str, bots))


def _bots(key: str) -> tuple[int, ...]:
    return tuple(map(int, key.split(",")))


def _versions(bots: Iterable[Bot]) -> dict[int, BotVersion]:
    """Return the current version of each bot that has one, with its bot, by bot id."""
    return {bot.pk: version for bot in bots if (version := bot.current_version())}
