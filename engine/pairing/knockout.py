"""Knockouts: snake-seeded tables, the top half of each advances, until one table is left.

That table is the final. `engine.pairing.next_round` ends the knockout after it, or earlier if too
few entrants are left.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from engine.blocks import MIN_SEATS
from engine.errors import quote
from engine.pairing.seating import owner_group, seat_owners_apart
from engine.pairing.sizes import plan_table_sizes
from engine.pairing.tables import (
    MAX_EXTRA_BLOCKS,
    Owners,
    Table,
    are_owners_apart,
    check_each_once,
    table_of,
)

BlockScores = Mapping[int, Sequence[Fraction]]
"""By entrant of a table: its score S over the regular blocks, then that of each extra block."""


class KnockoutRound(NamedTuple):
    """The tables and byes of a round.

    Attributes:
        tables: tables of entrants and fill-ins, the best seed's table first.
        byes: the ids of the entrants that advance without playing, best seed first.
        final: whether this is the last round. If it has no table, the first of ``byes`` wins.
    """

    tables: list[Table]
    byes: tuple[int, ...]
    final: bool


def seed_entrants(ratings: Mapping[int, int], seed: bytes) -> list[int]:
    """Return the seeds of a knockout: bots by rating, the best first, equal ratings at random.

    Args:
        ratings: in milli-Elo, by bot.
        seed: 32 bytes, which decide between equal ratings.
    """
    rng = Random(seed)
    random_order = {bot: rng.random() for bot in sorted(ratings)}
    return sorted(ratings, key=lambda bot: (-ratings[bot], random_order[bot]))


def knockout_round(
    seeding: Sequence[int],
    owners: Owners,
    seats: int,
    *,
    min_seats: int = MIN_SEATS,
    fill_ins: Sequence[int] = (),
) -> KnockoutRound:
    """Return the next round of a knockout, which follows from the seeding without any chance.

    With T tables, seeds 1 to T sit at tables 1 to T, seeds T + 1 to 2T at tables T to 1, and so on
    in a snake. If that brings two bots of one owner together, the lower seed exchanges seats with
    the nearest seed for which both tables come out right. `plan_table_sizes` decides about uneven
    numbers: fill-ins are the lowest seeds and never advance, and the best seeds get the byes. If
    the entrants fit at one table, that table is the final, even if it has two bots of one owner or
    fewer seats than other tables.

    Args:
        seeding: the ids of the entrants still in, best seed first.
        owners: the owners of at least these entrants.
        seats: the seats of a full table.
        min_seats: the fewest seats that the preset allows.
        fill_ins: ids of house bots that may take empty seats, in order of preference.

    Raises:
        ValueError: a bot is listed twice, as an entrant, a fill-in or both.
    """
    bots = [*seeding, *fill_ins]
    check_each_once(bots)
    all_owners = {bot: owners[bot] for bot in seeding} | dict.fromkeys(fill_ins)
    if len(seeding) <= seats:
        table = bots[:seats]
        if len(seeding) < MIN_SEATS or len(table) < min_seats:
            return KnockoutRound([], tuple(seeding), final=True)
        return KnockoutRound([table_of(table, all_owners)], (), final=True)
    entered = {bot: all_owners[bot] for bot in seeding}
    sizes = plan_table_sizes(entered, seats, min_seats=min_seats, fill_ins=len(fill_ins))
    if len(sizes.tables) >= len(entered) - sizes.byes:
        # With owners apart, each entrant would sit with house bots only, and none would go out.
        ownerless = dict.fromkeys(entered)
        sizes = plan_table_sizes(ownerless, seats, min_seats=min_seats, fill_ins=len(fill_ins))
    playing = [*seeding[sizes.byes :], *fill_ins[: sizes.fill_ins]]
    tables = _snake(playing, len(sizes.tables), all_owners)
    return KnockoutRound(
        [table_of(table, all_owners) for table in tables],
        tuple(seeding[: sizes.byes]),
        final=False,
    )


def places_to_advance(entrants: int, *, final: bool) -> int:
    """Return how many entrants of a table advance: the upper half, or the winner of a final.

    If the number is odd, the entrant in the middle advances too.

    Args:
        entrants: the number of entrants at the table, without fill-ins.
        final: whether the table is the final.
    """
    return 1 if final else (entrants + 1) // 2


def needs_extra_block(
    scores: BlockScores, places: int, max_extra_blocks: int = MAX_EXTRA_BLOCKS
) -> bool:
    """Return whether the cut is tied and the table may play an extra block.

    The whole table plays extra blocks, one by one. Each decides only between the entrants that are
    still tied, so no entrant loses a place that it has won before.

    Args:
        scores: the scores of the table's entrants.
        places: how many entrants advance, from `places_to_advance`.
        max_extra_blocks: the highest number of extra blocks.

    Raises:
        ValueError: the entrants have played different numbers of blocks.
    """
    extra = _count_extra_blocks(scores)
    ranked = sorted((tuple(of) for of in scores.values()), reverse=True)
    tied = 0 < places < len(ranked) and ranked[places - 1] == ranked[places]
    return tied and extra < max_extra_blocks


def advancing_from_table(scores: BlockScores, places: int, seeding: Sequence[int]) -> list[int]:
    """Return the entrants that advance from a table, best first; the seed decides ties.

    Args:
        scores: the scores of the table's entrants.
        places: how many entrants advance, from `places_to_advance`.
        seeding: all seeds of the event, best first.

    Raises:
        ValueError: the entrants have played different numbers of blocks.
    """
    _count_extra_blocks(scores)
    by_seed = sorted(scores, key=seeding.index)
    return sorted(by_seed, key=lambda bot: tuple(scores[bot]), reverse=True)[:places]


def _count_extra_blocks(scores: BlockScores) -> int:
    """Return the number of extra blocks that a table has played."""
    counts = {len(of) for of in scores.values()}
    if len(counts) > 1 or 0 in counts:
        raise ValueError(
            "all entrants of a table need equally many block scores, at least one; "
            f"these have {quote(sorted(counts))} block scores"
        )
    return max(counts, default=1) - 1


def _snake(playing: Sequence[int], count: int, owners: Owners) -> list[list[int]]:
    """Return so many tables, filled in a snake, with owners apart if possible."""
    table_of_bot: dict[int, int] = {}
    for position, bot in enumerate(playing):
        row, column = divmod(position, count)
        table_of_bot[bot] = count - 1 - column if row % 2 else column
    tables = [[bot for bot in playing if table_of_bot[bot] == number] for number in range(count)]
    _separate_owners(tables, playing, owners)
    if all(are_owners_apart(table, owners) for table in tables):
        return tables
    # No single exchange helps. `seat_owners_apart` finds a way if there is one.
    seated = [bot for table in tables for bot in table]
    rearranged = seat_owners_apart(seated, [len(table) for table in tables], owners)
    return rearranged if all(are_owners_apart(table, owners) for table in rearranged) else tables


def _separate_owners(tables: list[list[int]], playing: Sequence[int], owners: Owners) -> None:
    """Exchange the seat of each bot that sits with a better seed of its owner, if a seed fits.

    The partner is the seed nearest to the bot whose exchange brings no owner together.

    Args:
        tables: bot ids by table; the function changes them.
        playing: all bots at the tables, best seed first.
        owners: the owners of these bots.
    """
    seed = {bot: number for number, bot in enumerate(playing)}
    group = {bot: owner_group(bot, owners) for bot in playing}
    at = {bot: table for table in tables for bot in table}

    def fits(newcomer: int, leaver: int, table: Sequence[int]) -> bool:
        return all(group[other] != group[newcomer] for other in table if other != leaver)

    for bot in playing:
        here = at[bot]
        if all(group[other] != group[bot] or seed[other] >= seed[bot] for other in here):
            continue
        for other in sorted(playing, key=lambda o: (abs(seed[o] - seed[bot]), seed[o])):
            there = at[other]
            if there is here or not (fits(other, bot, here) and fits(bot, other, there)):
                continue
            here[here.index(bot)], there[there.index(other)] = other, bot
            at[bot], at[other] = there, here
            break
