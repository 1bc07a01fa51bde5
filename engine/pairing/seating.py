"""Seating of an ordered list of bots at tables, with owners apart if possible."""

from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heapify, heappop, heappush, heapreplace

from engine.pairing.tables import Owners

OwnerGroup = tuple[int, int]
"""Bots that must sit apart: all bots of one owner, or a single house bot."""


def owner_group(bot: int, owners: Owners) -> OwnerGroup:
    """Return the owner group of a bot; a table has at most one seat for each group."""
    owner = owners[bot]
    return (1, bot) if owner is None else (0, owner)


def seat_owners_apart(
    order: Sequence[int], sizes: Sequence[int], owners: Owners
) -> list[list[int]]:
    """Return tables filled in order, so that neighbours sit together and owners sit apart.

    A group with as many bots left as there are tables left must take a seat now. The other seats go
    to the first bots in order whose groups are not at the table.

    If sizes differ by at most one and no group has more bots than there are tables, owners are
    apart at all tables: such sizes meet the condition of Gale and Ryser for a 0-1 matrix (groups by
    tables), and so does the rest after each table. A group with more bots sits together at as few
    tables as possible, from the first table on.

    Args:
        order: bot ids. A bot that is listed k times gets k seats.
        sizes: the number of seats of each table; their sum is the length of ``order``.
        owners: the owners of all bots in ``order``.

    Returns:
        Bot ids by table, in the order of ``sizes``.
    """
    queue = _SeatingQueue(order, owners)
    tables = []
    for number, size in enumerate(sizes):
        table = queue.take_forced(tables_after=len(sizes) - number - 1, seats=size)
        while len(table) < size:
            table.append(queue.take_next(table))
        tables.append(table)
    return tables


class _SeatingQueue:
    """The bots without a seat, in order and by owner group."""

    def __init__(self, order: Sequence[int], owners: Owners) -> None:
        self._owners = owners
        self._bots = dict(enumerate(order))
        self._positions: dict[OwnerGroup, deque[int]] = defaultdict(deque)
        for position, bot in enumerate(order):
            self._positions[owner_group(bot, owners)].append(position)
        # A heap with the largest group first. Its counts may be too high until they are popped.
        self._largest = [(-len(positions), group) for group, positions in self._positions.items()]
        heapify(self._largest)
        # A heap with each group by its first bot. A position may be too low until it is popped.
        self._first = [(positions[0], group) for group, positions in self._positions.items()]
        heapify(self._first)

    def take_forced(self, *, tables_after: int, seats: int) -> list[int]:
        """Remove and return the bots, up to ``seats``, for whose groups too few tables follow."""
        table: list[int] = []
        while self._largest and len(table) < seats:
            count, group = self._largest[0]
            positions = self._positions[group]
            if -count != len(positions):
                heapreplace(self._largest, (-len(positions), group))
                continue
            surplus = len(positions) - tables_after
            if surplus <= 0:
                break
            taken = [positions.popleft() for _ in range(min(surplus, seats - len(table)))]
            table += [self._bots.pop(position) for position in taken]
        return table

    def take_next(self, table: Sequence[int]) -> int:
        """Remove and return the first bot whose group is not at the table, else the first bot."""
        seated = {owner_group(bot, self._owners) for bot in table}
        passed = []
        while self._first:
            position, group = self._first[0]
            positions = self._positions[group]
            if not positions:
                heappop(self._first)
            elif positions[0] != position:
                heapreplace(self._first, (positions[0], group))
            elif group in seated:
                passed.append(heappop(self._first))
            else:
                break
        else:
            group = min(passed)[1]
        for each in passed:
            heappush(self._first, each)
        return self._bots.pop(self._positions[group].popleft())
