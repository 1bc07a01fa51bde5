"""Swiss rounds: bots with like scores sit together, and pairs meet once only if possible."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import NamedTuple

from engine.blocks import MIN_SEATS
from engine.pairing.seating import seat_owners_apart
from engine.pairing.sizes import plan_table_sizes
from engine.pairing.swiss_search import SwissSearch
from engine.pairing.tables import Owners, Table, check_each_once, table_of

BLOCKS_PER_TABLE = 2
BYE_SCORE = Fraction(1, 2)
"""The score of a block that a bot sits out: the win share of an average bot."""

MAX_SWAPS = 20_000
"""Swaps that the search for like scores tries in each round."""


@dataclass(frozen=True, slots=True)
class SwissEntrant:
    """A bot that may be drawn for a Swiss round.

    Attributes:
        bot: the bot's id.
        owner: the owner's id; None for a house bot, which may meet any other bot.
        score: S so far, byes included.
        byes: the number of rounds that it has sat out because there was no seat.
    """

    bot: int
    owner: int | None
    score: Fraction = Fraction()
    byes: int = 0


class SwissRound(NamedTuple):
    """The tables and byes of a round.

    Attributes:
        tables: the table with the highest scores first.
        byes: the ids of the bots without a seat, ascending; each gets `BYE_SCORE` for each block.
    """

    tables: list[Table]
    byes: tuple[int, ...]


def default_swiss_rounds(entrants: int) -> int:
    """Return the default number of rounds: ceil(log2 N) + 2, or 0 for fewer than two entrants.

    Args:
        entrants: N, the number of entrants when the event starts; later withdrawals do not count.
    """
    return (entrants - 1).bit_length() + 2 if entrants > 1 else 0


def swiss_round(
    entrants: Iterable[SwissEntrant],
    met: Mapping[tuple[int, int], int],
    seats: int,
    seed: bytes,
    *,
    min_seats: int = MIN_SEATS,
    fill_ins: Sequence[int] = (),
    max_swaps: int = MAX_SWAPS,
) -> SwissRound:
    """Return the next round, in which each entrant sits at one table or has a bye.

    Tables are filled by score with owners apart. Then pairs of bots at different tables exchange
    seats (`SwissSearch`): first to minimise repeated pairs (the sum over pairs of the square of
    their earlier meetings), then to minimise the gaps of scores at the tables. A weighted sum of
    both would let large gaps of score, which grow with the rounds, cause repeats that are
    avoidable.

    `plan_table_sizes` decides about uneven numbers. Fill-ins are seated with the lowest score. Byes
    go to the entrants with the fewest byes, of these to the lowest scores, of these at random.

    Args:
        entrants: all bots that play this round, in any order.
        met: by pair, the lower id first, how often the two bots have sat together; see
            `count_meetings`.
        seats: the seats of a full table.
        seed: 32 bytes, the round's seed (`derive_pairing_seed`); it decides all random choices.
        min_seats: the fewest seats that the preset allows.
        fill_ins: ids of house bots that may take empty seats, in order of preference.
        max_swaps: see `SwissSearch.improve`.

    Raises:
        ValueError: a bot is listed twice, as an entrant, a fill-in or both.
    """
    field = _by_id(entrants, fill_ins)
    rng = Random(seed)
    random_order = {bot: rng.random() for bot in sorted([*field, *fill_ins])}
    sizes = plan_table_sizes(
        {bot: entrant.owner for bot, entrant in field.items()},
        seats,
        min_seats=min_seats,
        fill_ins=len(fill_ins),
    )
    by_bye = sorted(field.values(), key=lambda e: (e.byes, e.score, random_order[e.bot]))
    byes = {entrant.bot for entrant in by_bye[: sizes.byes]}
    lowest = min((entrant.score for entrant in field.values()), default=Fraction())
    players = [entrant for entrant in field.values() if entrant.bot not in byes]
    players += [SwissEntrant(bot, None, lowest) for bot in fill_ins[: sizes.fill_ins]]
    players.sort(key=lambda e: (e.bot in fill_ins, -e.score, random_order[e.bot]))
    owners: Owners = {entrant.bot: entrant.owner for entrant in players}
    tables = seat_owners_apart([entrant.bot for entrant in players], sizes.tables, owners)
    SwissSearch(tables, {one.bot: one.score for one in players}, owners, met).improve(
        rng, max_swaps
    )
    return SwissRound([table_of(table, owners) for table in tables], tuple(sorted(byes)))


def _by_id(bots: Iterable[SwissEntrant], fill_ins: Sequence[int]) -> dict[int, SwissEntrant]:
    """Return the entrants ascending by id."""
    entrants = sorted(bots, key=lambda entrant: entrant.bot)
    check_each_once([*(entrant.bot for entrant in entrants), *fill_ins])
    return {entrant.bot: entrant for entrant in entrants}
