"""Ladder rounds: bots with the fewest blocks first, mostly against opponents of a like rating."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from random import Random

from engine.errors import quote
from engine.pairing.seating import OwnerGroup, owner_group, seat_owners_apart
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    Owners,
    Table,
    check_each_once,
    table_of,
)

RATING_NOISE = 100_000
"""Highest random change of a rating, in milli-Elo, before neighbours in rating sit together.

Bots nearer than this are equally good opponents. Without it, the same bots would meet in every
round."""

RANDOM_PERCENT = 10
"""Percentage of seats that are drawn without regard to ratings."""

_MORE_BLOCKS_TO_HALVE_ERROR = 3
"""How many times as many blocks must be added to halve an error bar: errors fall with the root."""


@dataclass(frozen=True, slots=True)
class LadderEntrant:
    """A bot that may be drawn for a round of a ladder.

    Attributes:
        bot: the bot's id.
        owner: the owner's id; None for a house bot, which may meet any other bot.
        rating: in milli-Elo.
        blocks: rated blocks so far.
        max_blocks: blocks that it may play in this round, 0 to `MAX_BLOCKS_PER_ROUND`.
    """

    bot: int
    owner: int | None
    rating: int
    blocks: int
    max_blocks: int = MAX_BLOCKS_PER_ROUND


def ladder_round(
    bots: Iterable[LadderEntrant],
    seats: int,
    seed: bytes,
    *,
    tables: int = 0,
    allow_unrated: bool = True,
    rating_noise: int = RATING_NOISE,
    random_percent: int = RANDOM_PERCENT,
) -> list[Table]:
    """Return the tables of a ladder's next round.

    Each bot gets one seat. Then bots with the fewest blocks get more seats, until there are as many
    tables as wanted. Empty seats, of an uneven number of bots or of the extra tables that an
    owner's many bots need, go to house bots first and then to the bots with the fewest blocks.
    Bots of one owner sit at different tables. They share an unrated table only if they would get no
    seat otherwise, those with the most blocks first. A bot gets no seat only if too few others may
    play another block.

    Args:
        bots: the bots that may be drawn; their order has no effect.
        seats: the seats of each table.
        seed: 32 bytes, which decide all random choices.
        tables: the number of tables to make, within the bots' ``max_blocks``. There are more if
            all bots need them to sit.
        allow_unrated: if False, bots that could only sit at an unrated table get no seat.
        rating_noise: the highest random change of a rating, in milli-Elo.
        random_percent: the percentage of seats that are drawn without regard to ratings.

    Returns:
        Tables, those of the bots with the fewest blocks first; none if there are fewer bots than
        seats.

    Raises:
        ValueError: a bot is listed twice, or its ``max_blocks`` is not from 0 to
            `MAX_BLOCKS_PER_ROUND`.
    """
    rng = Random(seed)
    draw = _Draw(_by_id(bots), seats, rng)
    if len(draw.field) < seats:
        return []
    made = []
    for seats_of in draw.share_seats(tables, allow_unrated=allow_unrated):
        order = _by_rating(seats_of, draw.field, rng, rating_noise, random_percent)
        sizes = [seats] * (len(order) // seats)
        made += [
            table_of(table, draw.owners) for table in seat_owners_apart(order, sizes, draw.owners)
        ]
    return sorted(made, key=lambda t: (sorted(draw.field[bot].blocks for bot in t.bots), t.bots))


def blocks_to_halve_error(blocks: int) -> int:
    """Return about how many more blocks halve a bot's error bar.

    Args:
        blocks: the bot's blocks so far.
    """
    return _MORE_BLOCKS_TO_HALVE_ERROR * max(blocks, 1)


def _by_id(bots: Iterable[LadderEntrant]) -> dict[int, LadderEntrant]:
    """Return the bots that may play at least one block, ascending by id."""
    entrants = sorted(bots, key=lambda entrant: entrant.bot)
    check_each_once(entrant.bot for entrant in entrants)
    for entrant in entrants:
        if not 0 <= entrant.max_blocks <= MAX_BLOCKS_PER_ROUND:
            raise ValueError(
                f"max_blocks of bot {quote(entrant.bot)} is {quote(entrant.max_blocks)}; it must "
                f"be from 0 to {MAX_BLOCKS_PER_ROUND}"
            )
    return {entrant.bot: entrant for entrant in entrants if entrant.max_blocks}


class _Draw:
    """The distribution of a round's seats: how many each bot gets."""

    def __init__(self, field: Mapping[int, LadderEntrant], seats: int, rng: Random) -> None:
        self.field = field
        self.owners: Owners = {bot: entrant.owner for bot, entrant in field.items()}
        self._seats = seats
        shuffled = rng.sample(list(field), len(field))
        self._fewest_first = sorted(shuffled, key=lambda bot: field[bot].blocks)
        self._random_order = {bot: number for number, bot in enumerate(shuffled)}
        self._group = {bot: owner_group(bot, self.owners) for bot in field}

    def share_seats(self, wanted: int, *, allow_unrated: bool) -> list[Counter[int]]:
        """Return the seats of each bot at tables with owners apart, then at unrated tables.

        If some bots get no seat, the method tries fewer tables with owners apart: that can leave
        blocks to the bots that fill up the unrated tables.

        Args:
            wanted: the number of tables to make, if the bots may play so many.
            allow_unrated: whether to make unrated tables at all.
        """
        largest = max(Counter(self._group.values()).values())
        needed = max(-(-len(self.field) // self._seats), largest)
        max_tables = min(self._max_tables(), max(needed, wanted))
        tries = []
        for tables in range(max_tables, max(max_tables - self._seats, -1), -1):
            apart = self._share_apart(tables, needed)
            tries.append([apart, *self._share_rest(apart)])
            if _count_seated(tries[-1]) == len(self.field):
                break
        return max(tries, key=_count_seated) if allow_unrated else tries[0][:1]

    def _max_tables(self) -> int:
        """Return the highest number of tables with owners apart that the bots may play.

        A group takes one seat at a table. So T tables can be filled if the sum of the groups'
        blocks, at most T of each group, is at least seats * T. The sum is concave in T, so this
        holds up to some T and not beyond.
        """
        blocks: Counter[OwnerGroup] = Counter()
        for bot, entrant in self.field.items():
            blocks[self._group[bot]] += entrant.max_blocks
        low, high = 0, blocks.total() // self._seats
        while low < high:
            tables = (low + high + 1) // 2
            if sum(min(count, tables) for count in blocks.values()) >= self._seats * tables:
                low = tables
            else:
                high = tables - 1
        return low

    def _share_apart(self, tables: int, needed: int) -> Counter[int]:
        """Return the seats of each bot at so many tables with owners apart.

        Args:
            tables: the number of tables.
            needed: the number of tables that one seat for each bot needs.
        """
        given: Counter[int] = Counter()
        left = Counter(dict.fromkeys(self._group.values(), tables))
        for bot in self._fewest_first:
            if left[self._group[bot]] and len(given) < tables * self._seats:
                given[bot] += 1
                left[self._group[bot]] -= 1
        for until, house_first in ((min(tables, needed), True), (tables, False)):
            self._give_more(given, left, until * self._seats, house_first=house_first)
        return given

    def _give_more(
        self, given: Counter[int], left: Counter[OwnerGroup], until: int, *, house_first: bool
    ) -> None:
        """Give more seats, to the bots with the fewest blocks first.

        Args:
            given: seats by bot so far; the method adds to it.
            left: seats that each group may still take; the method takes from it.
            until: the sum of all seats to reach, if enough bots may sit.
            house_first: whether house bots come before all other bots.
        """

        def priority(bot: int) -> tuple[bool, int, int, int]:
            entrant = self.field[bot]
            is_later = house_first and entrant.owner is not None
            return is_later, entrant.blocks + given[bot], self._random_order[bot], bot

        queue = [priority(bot) for bot in self.field]
        heapify(queue)
        total = given.total()
        while queue and total < until:
            bot = queue[0][-1]
            if given[bot] < self.field[bot].max_blocks and left[self._group[bot]]:
                given[bot] += 1
                left[self._group[bot]] -= 1
                total += 1
                heapreplace(queue, priority(bot))
            else:
                heappop(queue)

    def _share_rest(self, apart: Counter[int]) -> list[Counter[int]]:
        """Return the seats at unrated tables of the bots without a seat, and at one filled table.

        The last table is filled up with bots that may play another block. If they are too few, the
        bots without a seat that have the most blocks stay out.
        """
        rest = [bot for bot in self._fewest_first if not apart[bot]]
        full = len(rest) // self._seats * self._seats
        sitting = apart + Counter(rest[:full])
        spare = [b for b in self._fewest_first if 0 < sitting[b] < self.field[b].max_blocks]
        spare.sort(key=lambda bot: (bot in rest, self.field[bot].owner is not None))
        last = rest[full:] + spare[: -len(rest) % self._seats]
        if len(last) < self._seats:
            last = []
        return [Counter(rest[:full]), Counter(last)]


def _count_seated(shares: list[Counter[int]]) -> int:
    """Return the number of different bots with a seat."""
    return len(set().union(*shares))


def _by_rating(
    seats_of: Counter[int],
    field: Mapping[int, LadderEntrant],
    rng: Random,
    rating_noise: int,
    random_percent: int,
) -> list[int]:
    """Return each bot once per seat, by its rating with noise; some get another bot's rating."""
    bots = sorted(seats_of.elements())
    ratings = [field[bot].rating + rng.randint(-rating_noise, rating_noise) for bot in bots]
    keys = [rng.choice(ratings) if rng.randrange(100) < random_percent else own for own in ratings]
    return [bot for _, bot in sorted(zip(keys, bots, strict=True), reverse=True)]
