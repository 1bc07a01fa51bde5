"""Seating a list of bots at tables, in order, with owners apart wherever that can be done."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Sequence
from heapq import heapify, heapreplace

from engine.pairing.tables import Owners

Party = tuple[int, int]
"""Those who must sit apart: an owner's bots, or a house bot with itself."""


def party(bot: int, owners: Owners) -> Party:
    """Return the party that a bot belongs to; no two seats of a table are for one party."""
    owner = owners[bot]
    return (1, bot) if owner is None else (0, owner)


def seat_apart(order: Sequence[int], sizes: Sequence[int], owners: Owners) -> list[list[int]]:
    """Return tables filled in order, neighbours together, no owner twice at one if at all possible.

    A party that has a seat to take at each table left must take one now; the others are taken as
    they come. With sizes that differ by one at most this seats owners apart whenever no party has
    more bots than there are tables: such sizes meet the condition of Gale and Ryser for a 0-1
    matrix (parties by tables), and a table filled so leaves a rest that meets it again. A party
    with more bots is put together at as few tables as that takes, from the first on.

    Args:
        order: the bots; one may stand in it several times, to sit at several tables.
        sizes: seats at each table, which add up to the bots.
        owners: of all bots in ``order``.
    """
    waiting = _Waiting(order, owners)
    tables = []
    for number, size in enumerate(sizes):
        table = waiting.take_those_who_must(tables_after=len(sizes) - number - 1, seats=size)
        while len(table) < size:
            table.append(waiting.take_next(table))
        tables.append(table)
    return tables


class _Waiting:
    """Bots not yet seated, in order, and by party."""

    def __init__(self, order: Sequence[int], owners: Owners) -> None:
        self._owners = owners
        self._bots = OrderedDict(enumerate(order))
        self._positions: dict[Party, deque[int]] = defaultdict(deque)
        for position, bot in self._bots.items():
            self._positions[party(bot, owners)].append(position)
        # Lowest first, so the party with the most; counts only fall, and are mended when looked at.
        self._most = [(-len(positions), of) for of, positions in self._positions.items()]
        heapify(self._most)

    def take_those_who_must(self, *, tables_after: int, seats: int) -> list[int]:
        """Take out, for up to so many seats, those for whom the tables after are too few."""
        table: list[int] = []
        while self._most and len(table) < seats:
            count, of = self._most[0]
            positions = self._positions[of]
            if -count != len(positions):
                heapreplace(self._most, (-len(positions), of))
                continue
            too_many = len(positions) - tables_after
            if too_many <= 0:
                break
            here = [positions.popleft() for _ in range(min(too_many, seats - len(table)))]
            table += [self._bots.pop(position) for position in here]
        return table

    def take_next(self, table: Sequence[int]) -> int:
        """Take out the first of a party not at this table, or just the first."""
        seated = {party(bot, self._owners) for bot in table}
        apart = (p for p, bot in self._bots.items() if party(bot, self._owners) not in seated)
        first = next(iter(self._bots))
        position = next(apart, first)
        bot = self._bots.pop(position)
        self._positions[party(bot, self._owners)].remove(position)
        return bot
