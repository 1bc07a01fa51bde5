"""Balanced designs: all entrants sit equally often, and all pairs meet about equally often."""

from collections.abc import Sequence
from math import gcd
from random import Random

_MAX_MOVES = 100_000
"""Moves of the annealing, about 0.25 s. It ends earlier if all kinds of pairs are even, mostly
after a third of that."""

_MOVES_PER_TEMPERATURE = 250
"""Moves after which the annealing checks whether it is done, and lowers the temperature."""

_START_ACCEPTANCE = 0.7
"""Probability of accepting a move that raises the cost by one, at the start; it falls to 0.

Values from 0.6 to 0.8 give about the same results."""

_Seat = tuple[int, int]
"""A ring, and a position on it."""


def balanced_tables(
    entrants: Sequence[int], seats: int, max_tables: int, rng: Random
) -> list[tuple[int, ...]]:
    """Return tables at which all entrants sit equally often and pairs meet about equally often.

    There are as many tables as possible up to ``max_tables``. If each balanced choice has more
    tables, the smallest one is returned. Usually the numbers of meetings of two
    pairs differ by at most 1. If all pairs can meet equally often or nearly so (16 entrants for 4
    seats), they may differ by 2.

    The design is cyclic (R. C. Bose, "On the construction of balanced incomplete block designs",
    1939). The N entrants are arranged in g = gcd(N, seats) rings of u = N / g. Each base table
    makes u tables: all its bots move along their rings, one position at a time. So all entrants sit
    equally often if each ring has equally many seats of the base tables, and all pairs at the same
    distance on the same two rings meet equally often. Simulated annealing over the base tables
    (S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", 1983) evens
    out the remaining few numbers.

    Args:
        entrants: bot ids, more than ``seats``.
        seats: the seats of each table.
        max_tables: the highest number of tables, unless more are needed.
        rng: decides the design, the entrants' positions in it, and the order of the tables.

    Returns:
        Bot ids by table.
    """
    rings = gcd(len(entrants), seats)
    length = len(entrants) // rings
    count = count_balanced(len(entrants), seats, max_tables) // length
    search = _BalanceSearch(rings, length, seats, count, rng)
    search.even_out()
    shuffled = rng.sample(entrants, len(entrants))
    tables = [
        tuple(shuffled[ring * length + (position + step) % length] for ring, position in base)
        for base in search.bases
        for step in range(length)
    ]
    rng.shuffle(tables)
    return tables


def count_balanced(entrants: int, seats: int, max_tables: int) -> int:
    """Return the number of tables that `balanced_tables` makes."""
    length = entrants // gcd(entrants, seats)
    return max(max_tables // length, 1) * length


class _BalanceSearch:
    """Base tables, and how often each kind of pair meets.

    A kind is all pairs at the same distance on the same two rings.

    Attributes:
        bases: seats by base table; each ring has equally many seats over all base tables.
    """

    def __init__(self, rings: int, length: int, seats: int, count: int, rng: Random) -> None:
        self._length = length
        self._rng = rng
        self._number_kinds(rings)
        self.bases = [self._random_base(rings, seats) for _ in range(count)]
        for base in self.bases:
            for index, seat in enumerate(base):
                self._count(self._kinds(base[:index], -1, seat), 1)

    def even_out(self) -> None:
        """Move seats of base tables until the meetings of any two kinds differ by at most one."""
        for moves in range(0, _MAX_MOVES, _MOVES_PER_TEMPERATURE):
            if max(self._meetings) - min(self._meetings) <= 1:
                return
            acceptance = _START_ACCEPTANCE * (1 - moves / _MAX_MOVES)
            # Products give the same bits on all machines; exponentials of a C library may not.
            chances = [1.0]
            while chances[-1] > 1e-6:
                chances.append(chances[-1] * acceptance)
            for _ in range(_MOVES_PER_TEMPERATURE):
                self._try_move(chances)

    def _random_base(self, rings: int, seats: int) -> list[_Seat]:
        """Return a base table with equally many seats of each ring, at different positions."""
        each = seats // rings
        positions = [self._rng.sample(range(self._length), each) for _ in range(rings)]
        return [(ring, position) for ring in range(rings) for position in positions[ring]]

    def _number_kinds(self, rings: int) -> None:
        """Number the kinds of pairs, and set how often a base table makes each of them meet.

        That is once, but twice for opposite positions of one ring of even length.
        """
        length = self._length
        self._weight: list[int] = []
        self._kind: list[list[list[int]]] = [[[] for _ in range(rings)] for _ in range(rings)]
        for a in range(rings):
            first = len(self._weight)
            self._kind[a][a] = [first + min(d, length - d) - 1 for d in range(length)]
            self._weight += [2 if 2 * d == length else 1 for d in range(1, length // 2 + 1)]
            for b in range(a + 1, rings):
                first = len(self._weight)
                self._kind[a][b] = [first + d for d in range(length)]
                self._kind[b][a] = [first + -d % length for d in range(length)]
                self._weight += [1] * length
        self._meetings = [0] * len(self._weight)

    def _kinds(self, base: Sequence[_Seat], skipped: int, seat: _Seat) -> list[int]:
        """Return the kinds of the pairs of a seat with the other seats of a table."""
        ring, position = seat
        kind, length = self._kind[ring], self._length
        return [
            kind[other_ring][(other - position) % length]
            for index, (other_ring, other) in enumerate(base)
            if index != skipped
        ]

    def _count(self, kinds: Sequence[int], sign: int) -> int:
        """Add pairs of these kinds (sign 1) or remove them (sign -1); return the change of cost.

        The cost is the sum of squared meetings over all pairs, divided by the ring's length.
        """
        meetings, weight = self._meetings, self._weight
        change = 0
        for kind in kinds:
            change += sign * 2 * meetings[kind] + weight[kind]
            meetings[kind] += sign * weight[kind]
        return change

    def _try_move(self, chances: Sequence[float]) -> None:
        """Move a random seat along its ring or exchange it with another table's, if accepted.

        Args:
            chances: the probability of acceptance, by how much the move raises the cost.
        """
        rng, bases = self._rng, self.bases
        base = bases[int(rng.random() * len(bases))]
        index = int(rng.random() * len(base))
        seat = base[index]
        if rng.random() * 2 < 1:
            new = (seat[0], int(rng.random() * self._length))
            other, other_index = None, 0
        else:
            other = bases[int(rng.random() * len(bases))]
            other_index = int(rng.random() * len(base))
            new = other[other_index]
            if other is base or seat in other:
                return
        if new in base:
            return
        before = self._kinds(base, index, seat)
        after = self._kinds(base, index, new)
        if other is not None:
            before += self._kinds(other, other_index, new)
            after += self._kinds(other, other_index, seat)
        rise = self._count(before, -1) + self._count(after, 1)
        if rise <= 0 or (rise < len(chances) and rng.random() < chances[rise]):
            base[index] = new
            if other is not None:
                other[other_index] = seat
        else:
            self._count(after, -1)
            self._count(before, 1)
