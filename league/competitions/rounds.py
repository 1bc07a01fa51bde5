"""Open a round: store the blocks of drawn tables, with matches that wait to be played."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
    played: Mapping[tuple[int, ...], int] | None = None,
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
        played: number of blocks that a table has played before, in its tournament or on its
            ladder, by its bots, ascending. Every second block of an odd table reverses its seat
            orders.
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
    times = Counter(played or {})
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
        plan = plan_block(
            derive_block_seed(seed, block.number),
            table.bots,
            duplicate=block.duplicate,
            odd_repeat=times[table.bots] % 2 == 1,
        )
        times[table.bots] += 1
        plans.append(plan)
    Block.objects.bulk_create(blocks)
    BlockBot.objects.bulk_create(
        BlockBot(block=block, bot=bots[bot], version=versions[bot])
        for block, table in zip(blocks, tables, strict=True)
        for bot in table.bots
    )
    open_matches(ladder=ladder, blocks=zip(blocks, plans, strict=True), versions=versions)
    return round_


def count_tables(ladder: Ladder, tables: Sequence[Table]) -> dict[tuple[int, ...], int]:
    """Count the blocks of a round's tables; return how many blocks each table had before.

    Call it under the ladder's lock.
    """
    key = {table.bots: ",".join(map(str, table.bots)) for table in tables}
    before = dict(
        ladder.table_counts.filter(bots__in=key.values()).values_list("bots", "blocks"),
    )
    now = Counter(key[table.bots] for table in tables)
    TableCount.objects.bulk_create(
        [
            TableCount(ladder=ladder, bots=bots, blocks=before.get(bots, 0) + more)
            for bots, more in now.items()
        ],
        update_conflicts=True,
        unique_fields=["ladder", "bots"],
        update_fields=["blocks"],
    )
    return {bots: before.get(of, 0) for bots, of in key.items()}


def _versions(bots: Iterable[Bot]) -> dict[int, BotVersion]:
    """Return the current version of each bot that has one, with its bot, by bot id."""
    return {bot.pk: version for bot in bots if (version := bot.current_version())}
