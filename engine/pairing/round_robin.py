"""Round robins: all possible tables once, or a balanced design of fewer tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from random import Random
from typing import NamedTuple

from engine.deals import derive
from engine.pairing.balance import balanced_tables, count_balanced
from engine.pairing.event import Entrant, EventSettings, owners_of
from engine.pairing.seating import owner_group
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    MAX_TABLES,
    Owners,
    Table,
    are_owners_apart,
    table_of,
)


class RoundRobinTables(NamedTuple):
    """Tables of one round, before any entrant leaves.

    Attributes:
        tables: in the order of play.
        missed: by bot, the number of its tables that are never played because they would seat two
            bots of one owner, and that count in this round.
        so_far: by bot, the number of its tables in the rounds up to this one, these included.
    """

    tables: list[Table]
    missed: Counter[int]
    so_far: Counter[int]


class _Design(NamedTuple):
    """Tables that one or more bots add to a round robin.

    Attributes:
        tables: in the order of play.
        left_out: the tables that are never played because they would seat two bots of one owner:
            the number of ``tables`` before each, and its bots.
    """

    tables: list[Table]
    left_out: list[tuple[int, tuple[int, ...]]]


def round_robin(
    owners: Owners, seats: int, seed: bytes, *, max_tables: int = MAX_TABLES
) -> list[list[Table]]:
    """Return all rounds of a round robin.

    If there are at most ``max_tables`` sets of ``seats`` entrants, each set is a table. If there
    are more, `balanced_tables` makes a design in which all entrants sit equally often and pairs
    meet about equally often.

    Args:
        owners: the owners of all entrants.
        seats: the seats of each table.
        seed: 32 bytes, which decide the order and the design.
        max_tables: the highest number of tables, unless more are needed for all entrants to sit
            equally often.

    Returns:
        Tables by round; a bot sits at no more than `MAX_BLOCKS_PER_ROUND` tables of a round. Empty
        if there are fewer entrants than seats.
    """
    left = _design(tuple(sorted(owners.items())), seats, seed, max_tables).tables
    rounds = []
    while left:
        here, left = _take_round(left, MAX_BLOCKS_PER_ROUND)
        rounds.append(here)
    return rounds


def round_robin_round(
    settings: EventSettings, entrants: Sequence[Entrant], number: int
) -> RoundRobinTables | None:
    """Return round ``number`` of a round robin with late entrants, or None if it has no table.

    The starters play a round robin. A late entrant adds all its tables with the bots that are in at
    its entry, so it misses nothing. If all possible tables would be more than
    ``settings.max_tables``, it adds as many tables as a starter has, with its opponents equally
    often. A table that is left out counts when the tables before it are played, so that after each
    round the scores of all bots hold about equally many blocks.

    Args:
        settings: the settings of the event.
        entrants: all bots ever entered. The tables still contain bots that have left; the caller
            fills their seats. A table whose bots have all left waits until one of them is back.
        number: the round's number, from 1.
    """
    capacity = max_tables_of_a_bot(settings)
    left: list[Table] = []
    here: list[Table] = []
    left_out: list[tuple[int, tuple[int, ...]]] = []
    missed: Counter[int] = Counter()
    so_far: Counter[int] = Counter()
    added = 0
    for at in range(1, number + 1):
        for design in _added_tables(settings, entrants, at):
            left_out += [(added + before, bots) for before, bots in design.left_out]
            left += design.tables
            added += len(design.tables)
        gone = {entrant.bot for entrant in entrants if entrant.is_away(at)}
        there = [table for table in left if not gone.issuperset(table.bots)]
        waiting = [table for table in left if gone.issuperset(table.bots)]
        here, left = _take_round(there, capacity)
        taken = added - len(left)
        missed = Counter(bot for before, bots in left_out if before <= taken for bot in bots)
        left_out = [each for each in left_out if each[0] > taken]
        left += waiting
        so_far.update(bot for table in here for bot in table.bots)
        so_far.update(missed)
    return RoundRobinTables(here, missed, so_far) if here else None


def _added_tables(
    settings: EventSettings, entrants: Sequence[Entrant], number: int
) -> Iterator[_Design]:
    """Yield the tables that each bot adds whose first round is ``number``; starters together."""
    starters = owners_of(entrant for entrant in entrants if entrant.started)
    seats = min(settings.seats, len(starters))
    if number == 1:
        entered = tuple(sorted(starters.items()))
        yield _design(entered, seats, settings.seed, settings.max_tables)
        return
    owners = owners_of(e for e in entrants if e.first_round < number and e.is_in(number))
    share = count_tables(len(starters), seats, settings.max_tables) * seats // len(starters)
    for entrant in sorted(entrants, key=lambda entrant: entrant.bot):
        if entrant.first_round == number and entrant.is_in(number):
            owners[entrant.bot] = entrant.owner
            rng = Random(derive(settings.seed, f"late/{entrant.bot}"))
            table_seats = min(settings.seats, len(owners))
            if comb(len(owners), table_seats) <= settings.max_tables:
                yield _all_tables_of(entrant.bot, owners, table_seats, rng)
            else:
                yield _balanced_tables_of(entrant.bot, owners, table_seats, share, rng)


def max_tables_of_a_bot(settings: EventSettings) -> int:
    """Return at how many tables of a round a bot may sit: its blocks are limited, but one is."""
    return max(MAX_BLOCKS_PER_ROUND // settings.blocks, 1)


def count_tables(entrants: int, seats: int, max_tables: int = MAX_TABLES) -> int:
    """Return the number of tables of a round robin, with those that owners exclude."""
    tables = comb(entrants, seats)
    return tables if tables <= max_tables else count_balanced(entrants, seats, max_tables)


def count_left_out(settings: EventSettings, entrants: Iterable[Entrant]) -> int:
    """Return how many of the starters' tables are never played, to keep owners apart."""
    owners = owners_of(entrant for entrant in entrants if entrant.started)
    seats = min(settings.seats, len(owners))
    entered = tuple(sorted(owners.items()))
    return len(_design(entered, seats, settings.seed, settings.max_tables).left_out)


@lru_cache(maxsize=16)
def _design(
    bots: tuple[tuple[int, int | None], ...], seats: int, seed: bytes, max_tables: int
) -> _Design:
    """Return the tables of the starters. The cache serves every later round of the event.

    Args:
        bots: pairs of bot and owner, ascending.
        seats: the seats of each table.
        seed: the event's seed.
        max_tables: see `round_robin`.
    """
    rng = Random(seed)
    owners = dict(bots)
    entrants = list(owners)
    if comb(len(entrants), seats) <= max_tables:
        tables = list(combinations(entrants, seats))
        rng.shuffle(tables)
    else:
        tables = balanced_tables(entrants, seats, max_tables, rng)
    return _drop_owner_conflicts(tables, owners)


def _all_tables_of(bot: int, owners: Owners, seats: int, rng: Random) -> _Design:
    """Return all tables of a late entrant with the bots in the event."""
    others = sorted(other for other in owners if other != bot)
    tables = [(bot, *rest) for rest in combinations(others, seats - 1)]
    rng.shuffle(tables)
    return _drop_owner_conflicts(tables, owners)


def _balanced_tables_of(bot: int, owners: Owners, seats: int, count: int, rng: Random) -> _Design:
    """Return so many tables of a late entrant; it meets its opponents about equally often.

    Args:
        bot: the late entrant.
        owners: the owners of all bots in the event, the late entrant included.
        seats: the seats of each table.
        count: the number of tables.
        rng: decides between opponents met equally often.
    """
    others = sorted(other for other in owners if other != bot)
    sat: Counter[int] = Counter()
    tables = []
    for _ in range(count):
        random_order = {other: rng.random() for other in others}
        table = [bot]
        waiting = sorted(others, key=lambda other: (sat[other], random_order[other]))
        # A bot whose owner is already at the table gets a seat only if there is no other bot.
        while len(table) < seats:
            seated = {owner_group(one, owners) for one in table}
            apart = (other for other in waiting if owner_group(other, owners) not in seated)
            table.append(next(apart, waiting[0]))
            waiting.remove(table[-1])
        sat.update(table)
        tables.append(tuple(table))
    return _drop_owner_conflicts(tables, owners)


def _drop_owner_conflicts(tables: Sequence[tuple[int, ...]], owners: Owners) -> _Design:
    """Drop the tables with two bots of one owner, unless a bot would have no table then."""
    apart: list[tuple[int, ...]] = []
    conflicts: list[tuple[int, tuple[int, ...]]] = []
    for table in tables:
        if are_owners_apart(table, owners):
            apart.append(table)
        else:
            conflicts.append((len(apart), table))
    placed = {bot for table in apart for bot in table}
    together = [table for _, table in conflicts if not placed.issuperset(table)]
    left_out = [(before, table) for before, table in conflicts if placed.issuperset(table)]
    return _Design([table_of(table, owners) for table in [*apart, *together]], left_out)


def _take_round(tables: Sequence[Table], capacity: int) -> tuple[list[Table], list[Table]]:
    """Return the next tables, with each bot at ``capacity`` at most, and the remaining tables."""
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
