"""Balanced choices of tables: everybody sits equally often, all pairs meet as equally as can be."""

from collections.abc import Sequence
from math import gcd
from random import Random

_MOVES = 100_000
"""That the search tries at most, about a quarter of a second; where pairs come out even it ends
sooner, mostly after a third of that."""

_LOOKED_AT = 250
"""Moves after which it is seen whether pairs are even, and the search gets stricter."""

_READINESS = 0.7
"""With which chance a move that makes things worse by one is made at the start; at the end never.

Tried from 0.6 to 0.8: it makes little difference."""

_Seat = tuple[int, int]


def balanced_tables(
    entrants: Sequence[int], seats: int, most: int, rng: Random
) -> list[tuple[int, ...]]:
    """Return tables at which everybody sits equally often and all pairs meet about equally often.

    As many tables as seat everybody equally often, up to ``most``; where even the fewest such are
    more, these. Mostly no pair meets more than once oftener than any other. That can't be where the
    pairs come out even, or nearly so (16 entrants for 4 seats): there it is twice.

    The design is cyclic (R. C. Bose, "On the construction of balanced incomplete block designs",
    1939): entrants are g rings of u = n / g, g = gcd(n, seats), and from each of some base tables
    come u tables by moving all its bots on along their rings, one step at a time. So everybody sits
    equally often if all rings have equally many of the base tables' seats, and all pairs that are
    equally far apart in the same two rings meet equally often. That leaves few numbers to even
    out, by simulated annealing over the base tables (Kirkpatrick, Gelatt, Vecchi 1983).

    Args:
        entrants: more than ``seats``.
        seats: at each table.
        most: tables, unless more are needed.
        rng: settles the choice, who is who in it, and the order.
    """
    rings = gcd(len(entrants), seats)
    length = len(entrants) // rings
    count = count_balanced(len(entrants), seats, most) // length
    search = _Search(rings, length, seats, count, rng)
    search.even_out()
    shuffled = rng.sample(entrants, len(entrants))
    tables = [
        tuple(shuffled[ring * length + (place + step) % length] for ring, place in base)
        for base in search.bases
        for step in range(length)
    ]
    rng.shuffle(tables)
    return tables


def count_balanced(entrants: int, seats: int, most: int) -> int:
    """Return how many tables `balanced_tables` makes."""
    length = entrants // gcd(entrants, seats)
    return max(most // length, 1) * length


class _Search:
    """Base tables, and how often each kind of pair meets.

    Attributes:
        bases: seats as (ring, place on it), each ring having equally many over all of them.
    """

    def __init__(self, rings: int, length: int, seats: int, count: int, rng: Random) -> None:
        self._length = length
        self._rng = rng
        self._kinds_of_pairs(rings)
        self.bases = [self._random_base(rings, seats) for _ in range(count)]
        for base in self.bases:
            for position, seat in enumerate(base):
                self._count(self._kinds(base[:position], -1, seat), 1)

    def even_out(self) -> None:
        """Move seats of base tables until kinds of pairs meet equally often, give or take one."""
        for moves in range(0, _MOVES, _LOOKED_AT):
            if max(self._met) - min(self._met) <= 1:
                return
            readiness = _READINESS * (1 - moves / _MOVES)
            # Multiplied up, not exponentials of a C library, so that it is the same everywhere.
            chances = [1.0]
            while chances[-1] > 1e-6:
                chances.append(chances[-1] * readiness)
            for _ in range(_LOOKED_AT):
                self._try_move(chances)

    def _random_base(self, rings: int, seats: int) -> list[_Seat]:
        """Return a table with equally many seats of each ring, at different places."""
        each = seats // rings
        places = [self._rng.sample(range(self._length), each) for _ in range(rings)]
        return [(ring, place) for ring in range(rings) for place in places[ring]]

    def _kinds_of_pairs(self, rings: int) -> None:
        """Number the kinds: pairs in the same two rings, equally far apart.

        Where an even ring has two opposite each other, a base table makes them meet twice.
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
        self._met = [0] * len(self._weight)

    def _kinds(self, base: Sequence[_Seat], position: int, seat: _Seat) -> list[int]:
        """Return what kinds of pairs a seat makes with a table's others, one position left out."""
        ring, place = seat
        kind, length = self._kind[ring], self._length
        return [
            kind[other_ring][(other - place) % length]
            for at, (other_ring, other) in enumerate(base)
            if at != position
        ]

    def _count(self, kinds: Sequence[int], times: int) -> int:
        """Count pairs in, or out again; return what that changes in the sum of squared meetings.

        The sum is over all pairs, as a multiple of the ring's length.
        """
        met, weight = self._met, self._weight
        change = 0
        for kind in kinds:
            change += times * 2 * met[kind] + weight[kind]
            met[kind] += times * weight[kind]
        return change

    def _try_move(self, chances: Sequence[float]) -> None:
        """Let a seat move along its ring, or change with one of another table, if luck has it.

        Args:
            chances: by how much it makes things worse, that it is made all the same.
        """
        rng, bases = self._rng, self.bases
        base = bases[int(rng.random() * len(bases))]
        at = int(rng.random() * len(base))
        seat = base[at]
        if rng.random() * 2 < 1:
            new = (seat[0], int(rng.random() * self._length))
            other, there = None, 0
        else:
            other = bases[int(rng.random() * len(bases))]
            there = int(rng.random() * len(base))
            new = other[there]
            if other is base or seat in other:
                return
        if new in base:
            return
        before = self._kinds(base, at, seat)
        after = self._kinds(base, at, new)
        if other is not None:
            before += self._kinds(other, there, new)
            after += self._kinds(other, there, seat)
        worse = self._count(before, -1) + self._count(after, 1)
        if worse <= 0 or (worse < len(chances) and rng.random() < chances[worse]):
            base[at] = new
            if other is not None:
                other[there] = seat
        else:
            self._count(after, -1)
            self._count(before, 1)
