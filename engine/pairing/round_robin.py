"""Round robins: every table once, or a balanced choice of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from random import Random
from typing import NamedTuple

from engine.deals import derive
from engine.pairing.balance import balanced_tables, count_balanced
from engine.pairing.event import Entrant, EventSettings, owners_of
from engine.pairing.seating import party
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    MAX_TABLES,
    Owners,
    Table,
    are_owners_apart,
    table_of,
)


class Drawn(NamedTuple):
    """Tables of a round robin, as if nobody had left.

    Attributes:
        tables: in the order of play.
        missed: by bot, tables that are never played as they would seat an owner twice; told in
            the round with which the bot or the last of its company comes.
    """

    tables: list[Table]
    missed: Counter[int]


def round_robin(
    owners: Owners, seats: int, seed: bytes, *, max_tables: int = MAX_TABLES
) -> list[list[Table]]:
    """Return all rounds of a round robin: every table of so many bots, or a balanced choice.

    Of more than ``max_tables`` so many are chosen that everybody sits equally often, and so
    that pairs meet as equally as can be (`balanced_tables`).

    Args:
        owners: the owner of each entrant; None for a house bot, which may meet any other.
        seats: at each table.
        seed: settles the order, and the choice where there are too many tables.
        max_tables: that are played, but where more are needed for everybody to sit equally often.

    Returns:
        Tables by round; a bot is at most at `MAX_BLOCKS_PER_ROUND` tables of a round. Empty with
        fewer entrants than seats.
    """
    left = _design(tuple(sorted(owners.items())), seats, seed, max_tables).tables
    rounds = []
    while left:
        here, left = _take_round(left, MAX_BLOCKS_PER_ROUND)
        rounds.append(here)
    return rounds


def round_robin_round(
    settings: EventSettings, entrants: Sequence[Entrant], number: int
) -> Drawn | None:
    """Return a round of a round robin that late entrants may join; None when all is played.

    Those who start play a round robin. Who comes later plays every table with those who are in
    then, in the rounds to come, so has missed nothing; where these would make more than
    ``settings.max_tables``, as many tables as a starter has, everybody sitting equally often.

    Args:
        settings: of the event.
        entrants: all of them, those who left too; their seats are the caller's matter.
        number: of the round, from 1.
    """
    capacity = max(MAX_BLOCKS_PER_ROUND // settings.blocks, 1)
    left: list[Table] = []
    here: list[Table] = []
    missed: Counter[int] = Counter()
    for at in range(1, number + 1):
        missed = Counter()
        for design in _arriving(settings, entrants, at):
            left += design.tables
            missed += design.missed
        gone = {one.bot for one in entrants if one.has_left_before(at)}
        left = [table for table in left if not gone.issuperset(table.bots)]
        here, left = _take_round(left, capacity)
    return Drawn(here, missed) if here else None


def _arriving(settings: EventSettings, entrants: Sequence[Entrant], number: int) -> Iterator[Drawn]:
    """Yield what is to be played because of those who come with this round."""
    starters = owners_of(one for one in entrants if one.started)
    seats = min(settings.seats, len(starters))
    if number == 1:
        entered = tuple(sorted(starters.items()))
        yield _design(entered, seats, settings.seed, settings.max_tables)
        return
    there = owners_of(one for one in entrants if one.first_round < number and one.is_in(number))
    share = count_tables(len(starters), seats, settings.max_tables) * seats // len(starters)
    for one in sorted(entrants, key=lambda one: one.bot):
        if one.first_round == number and one.is_in(number):
            there[one.bot] = one.owner
            rng = Random(derive(settings.seed, f"late/{one.bot}"))
            at_table = min(settings.seats, len(there))
            if comb(len(there), at_table) <= settings.max_tables:
                yield _late_for_all(one.bot, there, at_table, rng)
            else:
                yield _late(one.bot, there, at_table, share, rng)


def count_tables(entrants: int, seats: int, max_tables: int = MAX_TABLES) -> int:
    """Return how many tables a round robin has, those left out for owners' sake included."""
    tables = comb(entrants, seats)
    return tables if tables <= max_tables else count_balanced(entrants, seats, max_tables)


@lru_cache(maxsize=16)
def _design(bots: tuple[tuple[int, int | None], ...], seats: int, seed: bytes, most: int) -> Drawn:
    """Return all tables of these bots and owners. Kept, as every round asks for them again."""
    rng = Random(seed)
    owners = dict(bots)
    entrants = list(owners)
    if comb(len(entrants), seats) <= most:
        tables = list(combinations(entrants, seats))
        rng.shuffle(tables)
    else:
        tables = balanced_tables(entrants, seats, most, rng)
    return _apart(tables, owners)


def _late_for_all(bot: int, owners: Owners, seats: int, rng: Random) -> Drawn:
    """Return all tables of one that comes late with those who are there."""
    others = sorted(other for other in owners if other != bot)
    tables = [(bot, *rest) for rest in combinations(others, seats - 1)]
    rng.shuffle(tables)
    return _apart(tables, owners)


def _late(bot: int, owners: Owners, seats: int, share: int, rng: Random) -> Drawn:
    """Return so many tables of one that comes late with those who are there."""
    others = sorted(other for other in owners if other != bot)
    sat: Counter[int] = Counter()
    tables = []
    for _ in range(share):
        lots = {other: rng.random() for other in others}
        table = [bot]
        waiting = sorted(others, key=lambda other: (sat[other], lots[other]))
        # Those of an owner who is there already come last, and so only if nobody else is left.
        while len(table) < seats:
            seated = {party(one, owners) for one in table}
            fits = (other for other in waiting if party(other, owners) not in seated)
            table.append(next(fits, waiting[0]))
            waiting.remove(table[-1])
        sat.update(table)
        tables.append(tuple(table))
    return _apart(tables, owners)


def _apart(tables: Sequence[tuple[int, ...]], owners: Owners) -> Drawn:
    """Leave out tables that seat one owner twice, but where somebody would not play at all."""
    apart = [table for table in tables if are_owners_apart(table, owners)]
    placed = {bot for table in apart for bot in table}
    together = [table for table in tables if not placed.issuperset(table)]
    missed = Counter(bot for table in tables for bot in table)
    missed.subtract(bot for table in [*apart, *together] for bot in table)
    played = [table_of(table, owners) for table in apart]
    return Drawn([*played, *(table_of(table, owners) for table in together)], +missed)


def _take_round(tables: Sequence[Table], capacity: int) -> tuple[list[Table], list[Table]]:
    """Return the tables of a round, with no bot at more than so many, and those that are left."""
    here: list[Table] = []
    left: list[Table] = []
    sat: Counter[int] = Counter()
    for table in tables:
        if all(sat[bot] < capacity for bot in table.bots):
            here.append(table)
            sat.update(table.bots)
        else:
            left.append(table)
    return here, left
