"""Ladder rounds: first those with the fewest blocks, opponents near in rating, some far ones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from random import Random

from engine.errors import quote
from engine.pairing.seating import Party, party, seat_apart
from engine.pairing.tables import MAX_BLOCKS_PER_ROUND, Owners, Table, table_of

NEAR = 100_000
"""Milli-Elo by which ratings are shaken before neighbours are seated together.

Bots nearer than this are as good as each other as opponents, and without it the same few would
meet in every round."""

RANDOM_PERCENT = 10
"""Of a hundred seats, how many are given without a look at the rating."""

_BLOCKS_MORE_TO_HALVE = 3


@dataclass(frozen=True, slots=True)
class LadderEntrant:
    """A bot that may be drawn for a round of a ladder.

    Attributes:
        bot: its id.
        owner: None for a house bot, which may meet any other.
        rating: in milli-Elo.
        blocks: rated so far.
        max_blocks: it may play in this round, up to `MAX_BLOCKS_PER_ROUND`; 0 leaves it out.
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
    unrated: bool = True,
    near: int = NEAR,
    random_percent: int = RANDOM_PERCENT,
) -> list[Table]:
    """Return the tables of a ladder's next round, those with the fewest blocks behind them first.

    Everybody sits once, then those with the fewest blocks again until there are as many tables as
    wanted. Seats left over where numbers are uneven, or where an owner's many bots need tables of
    their own, go to house bots first, then to those with the fewest blocks. Owners are apart; one
    owner's bots meet, unrated, only where they would not sit at all, and those with the most
    blocks the sooner. A bot stays out only where too few others may play a block more.

    Args:
        bots: who may be drawn; their order changes nothing.
        seats: at each table.
        seed: settles all that is left to chance.
        tables: how many to make, as long as the bots may play so many; more if all are to sit.
        unrated: False leaves those out who would sit only where owners meet.
        near: milli-Elo within which bots count as equally near.
        random_percent: of the seats, how many are given at random.

    Returns:
        Tables; none with fewer bots than seats.

    Raises:
        ValueError: a bot stands twice, or may play fewer than no blocks or more than
            `MAX_BLOCKS_PER_ROUND`.
    """
    rng = Random(seed)
    draw = _Draw(_candidates(bots), seats, rng)
    if len(draw.field) < seats:
        return []
    made = []
    for seats_of in draw.share_seats(tables, unrated=unrated):
        order = _by_rating(seats_of, draw.field, rng, near, random_percent)
        sizes = [seats] * (len(order) // seats)
        made += [table_of(table, draw.owners) for table in seat_apart(order, sizes, draw.owners)]
    return sorted(made, key=lambda t: (sorted(draw.field[bot].blocks for bot in t.bots), t.bots))


def blocks_to_halve_error(blocks: int) -> int:
    """Return about how many blocks more halve a bot's error bar: it shrinks with their root."""
    return _BLOCKS_MORE_TO_HALVE * max(blocks, 1)


def _candidates(bots: Iterable[LadderEntrant]) -> dict[int, LadderEntrant]:
    """Return who may be drawn, ascending by id."""
    field: dict[int, LadderEntrant] = {}
    for candidate in sorted(bots, key=lambda candidate: candidate.bot):
        if candidate.bot in field:
            raise ValueError(f"bot {quote(candidate.bot)} stands twice among those to be drawn")
        if not 0 <= candidate.max_blocks <= MAX_BLOCKS_PER_ROUND:
            raise ValueError(
                f"a bot plays up to {MAX_BLOCKS_PER_ROUND} blocks a round, "
                f"not {quote(candidate.max_blocks)}"
            )
        field[candidate.bot] = candidate
    return {bot: candidate for bot, candidate in field.items() if candidate.max_blocks}


class _Draw:
    """Shares out the seats of a round: how often each bot sits."""

    def __init__(self, field: Mapping[int, LadderEntrant], seats: int, rng: Random) -> None:
        self.field = field
        self.owners: Owners = {bot: candidate.owner for bot, candidate in field.items()}
        self._seats = seats
        shuffled = rng.sample(list(field), len(field))
        self._fewest_first = sorted(shuffled, key=lambda bot: field[bot].blocks)
        self._lot = {bot: lot for lot, bot in enumerate(shuffled)}
        self._party = {bot: party(bot, self.owners) for bot in field}

    def share_seats(self, wanted: int, *, unrated: bool) -> list[Counter[int]]:
        """Return how often each bot sits where owners are apart, then where they can't be.

        One table fewer with owners apart can leave a block to those who fill up the others.
        """
        biggest = max(Counter(self._party.values()).values())
        needed = max(-(-len(self.field) // self._seats), biggest)
        most = min(self._max_tables(), max(needed, wanted))
        tries = []
        for tables in range(most, max(most - self._seats, -1), -1):
            apart = self._share_apart(tables, needed)
            tries.append([apart, *self._share_rest(apart)])
            if _count_seated(tries[-1]) == len(self.field):
                break
        return max(tries, key=_count_seated) if unrated else tries[0][:1]

    def _max_tables(self) -> int:
        """Return how many tables with owners apart the bots may play.

        A party takes one seat at a table, so T tables can be filled if the parties' blocks, each
        party counted up to T, are seats * T. That holds up to some T and not beyond: concave.
        """
        blocks: Counter[Party] = Counter()
        for bot, candidate in self.field.items():
            blocks[self._party[bot]] += candidate.max_blocks
        low, high = 0, blocks.total() // self._seats
        while low < high:
            tables = (low + high + 1) // 2
            if sum(min(count, tables) for count in blocks.values()) >= self._seats * tables:
                low = tables
            else:
                high = tables - 1
        return low

    def _share_apart(self, tables: int, needed: int) -> Counter[int]:
        """Return who sits how often at so many tables, no party oftener than there are tables."""
        given: Counter[int] = Counter()
        left = Counter(dict.fromkeys(self._party.values(), tables))
        for bot in self._fewest_first:
            if left[self._party[bot]] and len(given) < tables * self._seats:
                given[bot] += 1
                left[self._party[bot]] -= 1
        for until, house_first in ((min(tables, needed), True), (tables, False)):
            self._give_more(given, left, until * self._seats, house_first=house_first)
        return given

    def _give_more(
        self, given: Counter[int], left: Counter[Party], until: int, *, house_first: bool
    ) -> None:
        """Give seats to those with the fewest blocks until so many are given, or none can sit.

        Args:
            given: to each bot so far; added to.
            left: how many more seats each party may take; taken from.
            until: so many seats are given in all.
            house_first: whether house bots come before all others.
        """

        def turn(bot: int) -> tuple[bool, int, int, int]:
            candidate = self.field[bot]
            behind = house_first and candidate.owner is not None
            return behind, candidate.blocks + given[bot], self._lot[bot], bot

        turns = [turn(bot) for bot in self.field]
        heapify(turns)
        total = given.total()
        while turns and total < until:
            bot = turns[0][-1]
            if given[bot] < self.field[bot].max_blocks and left[self._party[bot]]:
                given[bot] += 1
                left[self._party[bot]] -= 1
                total += 1
                heapreplace(turns, turn(bot))
            else:
                heappop(turns)

    def _share_rest(self, apart: Counter[int]) -> list[Counter[int]]:
        """Return who sits at full tables of those without a seat, and at one with fill-ins.

        Each sits once at these. Where fill-ins are too few, those with the most blocks stay out.
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
    return len(set().union(*shares))


def _by_rating(
    seats_of: Counter[int],
    field: Mapping[int, LadderEntrant],
    rng: Random,
    near: int,
    random_percent: int,
) -> list[int]:
    """Return each bot as often as it sits, by shaken rating, some as if they had another's."""
    bots = sorted(seats_of.elements())
    ratings = [field[bot].rating + rng.randint(-near, near) for bot in bots]
    keys = [rng.choice(ratings) if rng.randrange(100) < random_percent else own for own in ratings]
    return [bot for _, bot in sorted(zip(keys, bots, strict=True), reverse=True)]
