"""Ladder rounds: the bots with the fewest blocks first, with opponents near them in rating."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from engine.pairing.tables import MOST_BLOCKS_A_ROUND, Table

AT_RANDOM = 0.1
"""Share of the tables whose opponents are drawn from all, so that far ratings stay connected."""


class Candidate(NamedTuple):
    """A bot that may be drawn for a round.

    Attributes:
        bot: its id.
        owner: whose it is; None for a house bot, which may meet any other.
        rating: in milli-Elo.
        blocks: rated so far.
    """

    bot: int
    owner: int | None
    rating: int
    blocks: int


def ladder_round(candidates: Sequence[Candidate], seats: int, seed: bytes) -> list[Table]:
    """Return the tables of one round of a ladder (ratings spec, format ``ladder``).

    Whoever has the fewest blocks leads a table; next to it sit those of other owners who are
    nearest in rating, first among those not seated yet, then, to fill up, among all with fewer
    than `MOST_BLOCKS_A_ROUND` tables. Nobody who can be seated with other owners is left out.

    Args:
        candidates: who may play now.
        seats: at each table.
        seed: settles what is drawn by lot.

    Returns:
        Rated tables; none where owners can't be kept apart.
    """
    rng = Random(seed)
    lots = {candidate.bot: rng.random() for candidate in sorted(candidates)}
    waiting = sorted(candidates, key=lambda one: (one.blocks, lots[one.bot]))
    tables: list[Table] = []
    seated: Counter[int] = Counter()
    while waiting:
        leader = waiting.pop(0)
        at_random = rng.random() < AT_RANDOM

        def distance(other: Candidate, near: Candidate = leader, any_: bool = at_random) -> float:
            return lots[other.bot] if any_ else abs(other.rating - near.rating)

        def key(other: Candidate) -> tuple[bool, int, float, float]:
            # House bots fill up before others are drawn a second time.
            again = seated[other.bot]
            return again > 0, again and other.owner is not None, distance(other), lots[other.bot]

        table = [leader]
        for other in sorted(candidates, key=key):
            if len(table) == seats:
                break
            owners = {one.owner for one in table if one.owner is not None}
            known = {one.bot for one in table}
            free = seated[other.bot] < MOST_BLOCKS_A_ROUND
            if free and other.bot not in known and other.owner not in owners:
                table.append(other)
        if len(table) < seats:
            continue
        taken = {one.bot for one in table}
        seated.update(taken)
        waiting = [one for one in waiting if one.bot not in taken]
        tables.append(Table(tuple(sorted(taken)), True))
    return tables


def blocks_to_halve_error(blocks: int) -> int:
    """Return about how many more blocks halve a bot's error bar: errors go by 1 / sqrt(blocks)."""
    return 3 * blocks
