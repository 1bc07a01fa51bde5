"""How many tables of how many seats, where the number of entrants is uneven."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from engine.errors import quote
from engine.pairing.seating import party
from engine.pairing.tables import Owners


class Sizes(NamedTuple):
    """What a round is made of.

    Attributes:
        tables: seats at each, the bigger ones first; they differ by one at most.
        fill_ins: house bots wanted, that are no entrants.
        byes: entrants for whom there is no seat.
    """

    tables: tuple[int, ...]
    fill_ins: int
    byes: int


def plan_sizes(owners: Owners, seats: int, *, fewest: int = 2, fill_ins: int = 0) -> Sizes:
    """Return the tables for so many entrants.

    As few tables as there can be, each filled up by fill-ins as far as these go, and then of
    ``seats`` and one less; more of these where that many are needed to keep owners apart. Where
    numbers are too small for such tables (5 entrants for 4 seats), even ones with fewer seats;
    where the preset does not take these either, as few byes as will do.

    Args:
        owners: of the entrants, and of nobody else.
        seats: at a full table.
        fewest: seats that the preset takes.
        fill_ins: house bots at hand.

    Raises:
        ValueError: more seats are the fewest than there are at a full table, or fewer than two.
    """
    if not 2 <= fewest <= seats:
        raise ValueError(f"a table of {quote(seats)} can't have {quote(fewest)} seats at the least")
    parties = Counter(party(bot, owners) for bot in owners)
    biggest = max(parties.values(), default=0)
    for byes in range(len(owners) + 1):
        for least in (max(seats - 1, fewest), fewest):
            choices = list(_choices(len(owners) - byes, seats, least, fill_ins))
            if choices:
                apart = (choice for choice in choices if len(choice.tables) >= biggest)
                return next(apart, choices[0])._replace(byes=byes)
    return Sizes((), 0, len(owners))


def _choices(entrants: int, seats: int, least: int, fill_ins: int) -> Iterator[Sizes]:
    """Yield the sizes without byes and with at least so many seats a table, fewest tables first."""
    for tables in range(-(-entrants // seats), min(entrants, (entrants + fill_ins) // least) + 1):
        if tables:
            wanted = min(fill_ins, tables * seats - entrants)
            each, more = divmod(entrants + wanted, tables)
            yield Sizes((each + 1,) * more + (each,) * (tables - more), wanted, 0)
