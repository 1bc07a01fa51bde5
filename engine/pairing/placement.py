"""Placement: a new bot's first blocks, against opponents from the whole field."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from engine.pairing.ladder import LadderEntrant
from engine.pairing.seating import OwnerGroup, owner_group
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    Owners,
    Table,
    check_each_once,
    table_of,
)

_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, modulo 1, spread evenly over 0 to 1, however many are taken."""


def placement_rounds(
    new: LadderEntrant,
    field: Iterable[LadderEntrant],
    seats: int,
    seed: bytes,
    *,
    blocks: int,
    max_blocks: int = MAX_BLOCKS_PER_ROUND,
    costs: Mapping[int, float] | None = None,
) -> list[list[Table]]:
    """Return the rounds of a new bot's first blocks, each a list of tables.

    The new bot sits at every table. Its opponents come from the whole range of ratings: at each
    table one from each of ``seats - 1`` equal parts of the field, and over all tables from all
    places within a part. It meets everyone equally often, as far as owners allow it: at most one
    bot of an owner sits at a table. But slow opponents are met less often, in proportion to their
    cost, and last: a bot that thinks long would make a new bot wait for its rank.

    Args:
        new: the bot to place.
        field: the bots that it may meet. Their order has no effect, and ``max_blocks`` of these
            entrants is not used.
        seats: the seats of each table.
        seed: 32 bytes, which decide all random choices.
        blocks: the number of blocks to draw.
        max_blocks: the most blocks of a round.
        costs: how many times as long as others an opponent takes, by bot; 1 if it is missing.

    Returns:
        One round if it holds all blocks, else rounds of 1, 2, 4 and so on tables, up to
        ``max_blocks``, the last one with the rest; none if too few bots of different owners are in
        the field.

    Raises:
        ValueError: a bot is listed twice.
    """
    by_rating = sorted(field, key=lambda entrant: (entrant.rating, entrant.bot))
    check_each_once([new.bot, *(entrant.bot for entrant in by_rating)])
    owners: Owners = {entrant.bot: entrant.owner for entrant in [new, *by_rating]}
    groups = {bot: owner_group(bot, owners) for bot in owners}
    if len(set(groups.values())) < seats:
        return []
    rng = Random(seed)
    begin = rng.random()
    met: defaultdict[int, float] = defaultdict(float)
    cost = costs or {}
    tables = []
    for number in range(blocks):
        within = (begin + number * _GOLDEN) % 1
        seated = [new.bot]
        for part in range(seats - 1):
            place = (part + within) / (seats - 1) * len(by_rating)
            taken: set[OwnerGroup] = {groups[bot] for bot in seated}
            free = [
                (met[entrant.bot], abs(position + 0.5 - place), entrant.bot)
                for position, entrant in enumerate(by_rating)
                if groups[entrant.bot] not in taken
            ]
            seated.append(min(free)[2])
        for bot in seated:
            met[bot] += cost.get(bot, 1.0)
        tables.append(table_of(seated, owners))
    tables.sort(key=lambda table: max(cost.get(bot, 1.0) for bot in table.bots))
    return list(_growing_rounds(tables, max_blocks))


def _growing_rounds(tables: Sequence[Table], max_blocks: int) -> Iterator[list[Table]]:
    """Yield rounds of 1, 2, 4, ... tables, so that a new bot has its first rating soon.

    Tables that fit into one round are one.
    """
    first, size = 0, 1 if len(tables) > max_blocks else max_blocks
    while first < len(tables):
        yield list(tables[first : first + size])
        first, size = first + size, min(2 * size, max_blocks)
