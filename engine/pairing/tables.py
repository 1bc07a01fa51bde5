"""Tables, and the rule that all formats share: two bots of one owner sit apart if possible."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from engine.deals import derive
from engine.errors import quote

MAX_TABLES = 500
"""Tables of a round robin, unless more are needed for all entrants to sit equally often."""

MAX_EXTRA_BLOCKS = 4
"""Extra blocks of a knockout table with a tie at the cut; after them the better seed advances."""

MAX_BLOCKS_PER_ROUND = 4
"""Blocks of a bot in one round. Ratings change once a round, so they lag by at most that many."""

Owners = Mapping[int, int | None]
"""Owner ids by bot id; None for a house bot, which may meet any other bot."""


class Table(NamedTuple):
    """Bots that play a block together.

    Attributes:
        bots: ids, ascending.
        rated: False if two of the bots have one owner.
    """

    bots: tuple[int, ...]
    rated: bool


def table_of(bots: Iterable[int], owners: Owners) -> Table:
    """Return the table of these bots; it is rated if their owners are apart."""
    ascending = tuple(sorted(bots))
    return Table(ascending, are_owners_apart(ascending, owners))


def are_owners_apart(bots: Iterable[int], owners: Owners) -> bool:
    """Return whether no two of these bots have one owner; house bots have no owner."""
    found = [owner for bot in bots if (owner := owners[bot]) is not None]
    return len(found) == len(set(found))


def count_meetings(tables: Iterable[Table]) -> Counter[tuple[int, int]]:
    """Return by pair, the lower id first, at how many of these tables the two bots sit."""
    return Counter(pair for table in tables for pair in combinations(sorted(table.bots), 2))


def check_each_once(bots: Iterable[int]) -> None:
    """Check that no bot is listed twice.

    Raises:
        ValueError: a bot is listed twice; the message names the first such bot.
    """
    seen: set[int] = set()
    for bot in bots:
        if bot in seen:
            raise ValueError(f"bot {quote(bot)} is listed twice; a bot can have one entry only")
        seen.add(bot)


def derive_pairing_seed(seed: bytes, number: int) -> bytes:
    """Return the seed that pairs round ``number`` of an event: HMAC-SHA256(seed, ``pairing/R``).

    Args:
        seed: 32 bytes; the event's seed.
        number: the round's number R from 1; 0 for the seeding of a knockout.
    """
    return derive(seed, f"pairing/{number}")
