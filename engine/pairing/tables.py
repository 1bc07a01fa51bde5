"""Tables: the bots of a block, and what every pairing keeps to."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

MOST_BLOCKS_A_ROUND = 4
"""Of one bot; ratings move once a round, so it should not be far behind."""


class Table(NamedTuple):
    """Bots that play a block together; it is not rated if two have one owner."""

    bots: tuple[int, ...]
    rated: bool


def are_owners_apart(table: Sequence[int], owners: Mapping[int, int | None]) -> bool:
    """Return whether no two bots at a table have one owner; house bots, of None, have none."""
    known = [owners[bot] for bot in table if owners[bot] is not None]
    return len(known) == len(set(known))
