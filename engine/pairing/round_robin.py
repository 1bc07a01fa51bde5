"""Round robins: every table once, or a balanced choice of them."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb
from random import Random

from engine.pairing.tables import MOST_BLOCKS_A_ROUND, Owners, Table, are_owners_apart, pairs

MOST_TABLES = 500
_SWAPS_PER_TABLE = 40


def round_robin(owners: Owners, seats: int, seed: bytes) -> list[list[Table]]:
    """Return all rounds of a round robin: every table of so many bots, or a balanced choice.

    Args:
        owners: the owner of each entrant; None for a house bot, which may meet any other.
        seats: at each table.
        seed: settles the order, and the choice where there are more than `MOST_TABLES` tables.

    Returns:
        Tables by round; a bot is at most at `MOST_BLOCKS_A_ROUND` tables of a round. Empty with
        fewer entrants than seats.
    """
    rng = Random(seed)
    entrants = sorted(owners)
    if comb(len(entrants), seats) <= MOST_TABLES:
        tables = list(combinations(entrants, seats))
        rng.shuffle(tables)
    else:
        tables = _balanced(entrants, seats, rng)
    apart = [table for table in tables if are_owners_apart(table, owners)]
    # Tables that seat one owner twice are played only where somebody would not play at all.
    placed = {bot for table in apart for bot in table}
    together = [table for table in tables if not placed.issuperset(table)]
    return _in_rounds([Table(t, True) for t in apart] + [Table(t, False) for t in together])


def _balanced(entrants: Sequence[int], seats: int, rng: Random) -> list[tuple[int, ...]]:
    """Return `MOST_TABLES` tables at which all bots sit and all pairs meet about equally often.

    Local search: bots of two tables change places when that lowers the sum of squared meetings.
    """
    queue: list[int] = []
    tables: list[list[int]] = []
    for _ in range(MOST_TABLES):
        table: list[int] = []
        while len(table) < seats:
            bot = next((bot for bot in queue if bot not in table), None)
            if bot is None:
                queue += rng.sample(entrants, len(entrants))
            else:
                queue.remove(bot)
                table.append(bot)
        tables.append(table)
    met = Counter(pair for table in tables for pair in pairs(table))
    for _ in range(_SWAPS_PER_TABLE * MOST_TABLES):
        a, b = rng.sample(tables, 2)
        i, j = rng.randrange(seats), rng.randrange(seats)
        if a[i] in b or b[j] in a:
            continue
        before = _cost(a, met) + _cost(b, met)
        _swap(a, i, b, j, met)
        if _cost(a, met) + _cost(b, met) > before:
            _swap(a, i, b, j, met)
    return [tuple(table) for table in tables]


def _swap(a: list[int], i: int, b: list[int], j: int, met: Counter[tuple[int, int]]) -> None:
    met.subtract([*pairs(a), *pairs(b)])
    a[i], b[j] = b[j], a[i]
    met.update([*pairs(a), *pairs(b)])


def _cost(table: Sequence[int], met: Counter[tuple[int, int]]) -> int:
    return sum(met[pair] for pair in pairs(table))


def _in_rounds(tables: Sequence[Table]) -> list[list[Table]]:
    """Return the tables by round, each in the first in which all its bots have a block left."""
    rounds: list[tuple[list[Table], Counter[int]]] = []
    for table in tables:
        with_room = (
            round_
            for round_ in rounds
            if all(round_[1][bot] < MOST_BLOCKS_A_ROUND for bot in table.bots)
        )
        round_ = next(with_room, None)
        if round_ is None:
            round_ = ([], Counter())
            rounds.append(round_)
        round_[0].append(table)
        round_[1].update(table.bots)
    return [tables_of_round for tables_of_round, _ in rounds]
