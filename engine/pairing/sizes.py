"""Table sizes of a round whose number of entrants is not a multiple of the seats."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from engine.blocks import MIN_SEATS
from engine.errors import quote
from engine.pairing.seating import owner_group
from engine.pairing.tables import Owners


class TableSizes(NamedTuple):
    """The tables of a round by their numbers of seats.

    Attributes:
        tables: the seats of each table, descending; they differ by at most one.
        fill_ins: the number of seats that fill-ins take.
        byes: the number of entrants without a seat.
    """

    tables: tuple[int, ...]
    fill_ins: int
    byes: int


def plan_table_sizes(
    owners: Owners, seats: int, *, min_seats: int = MIN_SEATS, fill_ins: int = 0
) -> TableSizes:
    """Return the table sizes of a round, with as few byes as possible.

    There are as few tables as possible, or more if owners need them to sit apart. Fill-ins take
    empty seats; without enough fill-ins, tables have ``seats`` or ``seats - 1`` seats. If the
    number of entrants does not allow that (5 entrants for 4 seats), tables are smaller, down to
    ``min_seats``. If it does not allow that either, some entrants get a bye.

    Args:
        owners: the owners of all entrants, and of no other bots.
        seats: the seats of a full table.
        min_seats: the fewest seats that the preset allows.
        fill_ins: the number of house bots that may fill in.

    Raises:
        ValueError: ``min_seats`` is not from 2 to ``seats``.
    """
    if not MIN_SEATS <= min_seats <= seats:
        raise ValueError(
            f"min_seats must be from {MIN_SEATS} to {quote(seats)} seats, not {quote(min_seats)}"
        )
    groups = Counter(owner_group(bot, owners) for bot in owners)
    largest = max(groups.values(), default=0)
    for byes in range(len(owners) + 1):
        for smallest in (max(seats - 1, min_seats), min_seats):
            choices = list(_choices(len(owners) - byes, seats, smallest, fill_ins))
            if choices:
                apart = (choice for choice in choices if len(choice.tables) >= largest)
                return next(apart, choices[0])._replace(byes=byes)
    return TableSizes((), 0, len(owners))


def _choices(entrants: int, seats: int, smallest: int, fill_ins: int) -> Iterator[TableSizes]:
    """Yield the sizes without byes and with tables of ``smallest`` or more, fewest tables first."""
    min_tables = -(-entrants // seats)
    for tables in range(min_tables, min(entrants, (entrants + fill_ins) // smallest) + 1):
        if tables:
            filled = min(fill_ins, tables * seats - entrants)
            each, more = divmod(entrants + filled, tables)
            yield TableSizes((each + 1,) * more + (each,) * (tables - more), filled, 0)
