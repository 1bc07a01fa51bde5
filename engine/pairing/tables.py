"""Tables: what pairing comes to, and the one rule that every format keeps: owners apart."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from engine.deals import derive

MAX_TABLES = 500
"""Of a round robin, but where more are needed for everybody to sit equally often."""

MAX_EXTRA_BLOCKS = 4
"""That a table of a knockout plays for a tie at the cut, before the better seed goes on."""

MAX_BLOCKS_PER_ROUND = 4
"""Of one bot; ratings move once a round, so it should not be far behind."""

Owners = Mapping[int, int | None]
"""The owner of each bot; None for a house bot, which may meet any other."""


class Table(NamedTuple):
    """Bots that play a block together; it is not rated if two have one owner."""

    bots: tuple[int, ...]
    rated: bool


def table_of(bots: Iterable[int], owners: Owners) -> Table:
    """Return the table of these bots, ascending, rated if their owners are apart."""
    ascending = tuple(sorted(bots))
    return Table(ascending, are_owners_apart(ascending, owners))


def are_owners_apart(bots: Iterable[int], owners: Owners) -> bool:
    """Return whether no two of these bots have one owner; house bots, of None, have none."""
    known = [owner for bot in bots if (owner := owners[bot]) is not None]
    return len(known) == len(set(known))


def pairs(bots: Sequence[int]) -> list[tuple[int, int]]:
    """Return all pairs of these bots, the lower id first."""
    return [(min(pair), max(pair)) for pair in combinations(bots, 2)]


def meetings(tables: Iterable[Table]) -> Counter[tuple[int, int]]:
    """Return how often each pair, the lower id first, sits at one of these tables."""
    return Counter(pair for table in tables for pair in pairs(table.bots))


def derive_pairing_seed(seed: bytes, number: int) -> bytes:
    """Return the seed that pairs round ``number`` of an event: HMAC-SHA256(seed, ``pairing/R``)."""
    return derive(seed, f"pairing/{number}")
