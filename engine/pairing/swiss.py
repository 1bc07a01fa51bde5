"""Swiss rounds: like scores sit together, and nobody twice while that can be avoided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import NamedTuple

from engine.errors import quote
from engine.pairing.seating import seat_apart
from engine.pairing.sizes import plan_sizes
from engine.pairing.swiss_search import Search
from engine.pairing.tables import Owners, Table, table_of

BLOCKS_PER_TABLE = 2
BYE = Fraction(1, 2)
"""What a block not played for want of a seat counts: as much as beating half the table."""

SWAPS = 20_000


@dataclass(frozen=True, slots=True)
class SwissEntrant:
    """A bot still in the event.

    Attributes:
        bot: its id.
        owner: None for a house bot, which may meet any other.
        score: S so far, byes included.
        byes: it has had.
    """

    bot: int
    owner: int | None
    score: Fraction = Fraction()
    byes: int = 0


class SwissRound(NamedTuple):
    """Who plays whom next.

    Attributes:
        tables: the highest scores first.
        byes: the bots that sit out, ascending; each is awarded `BYE` a block.
    """

    tables: list[Table]
    byes: tuple[int, ...]


def swiss_rounds(entrants: int) -> int:
    """Return how many rounds so many entrants play: ceil(log2 N) + 2, and none with fewer than two.

    It is settled when the event starts; who withdraws later changes nothing.
    """
    return (entrants - 1).bit_length() + 2 if entrants > 1 else 0


def swiss_round(
    standings: Iterable[SwissEntrant],
    met: Mapping[tuple[int, int], int],
    seats: int,
    seed: bytes,
    *,
    fewest: int = 2,
    fill_ins: Sequence[int] = (),
    swaps: int = SWAPS,
) -> SwissRound:
    """Return the next round: everybody sits at one table, or has a bye.

    Tables are filled by score with owners apart, then bots of two tables change places: first so
    that as few as possible sit together who have met (the sum of the squares of how often), then
    so that the gaps of scores at the tables are small. The spec's "cost = 10 x meetings^2 + score
    gap" lets a gap of more than ten blocks bring a pair together again, and gaps grow with blocks
    and rounds, so its "no repeated pairs while avoidable" is taken at its word instead.

    Where numbers are uneven, `plan_sizes` says what becomes of it; fill-ins sit as if they had the
    lowest score, and byes are for those who have had the fewest, of these the lowest scores, of
    these by lot.

    Args:
        standings: of all who still play, in any order.
        met: how often each pair, the lower id first, sat at a table; as `meetings` counts.
        seats: at a full table.
        seed: of this round (`derive_pairing_seed`); settles all lots.
        fewest: seats that the preset takes.
        fill_ins: house bots that are not entered and may take empty seats, the first ones first.
        swaps: that the search tries (`Search.improve`).

    Raises:
        ValueError: a bot stands twice, among the entrants or the fill-ins.
    """
    field = _by_bot(standings, fill_ins)
    rng = Random(seed)
    lots = {bot: rng.random() for bot in sorted([*field, *fill_ins])}
    sizes = plan_sizes(
        {bot: entrant.owner for bot, entrant in field.items()},
        seats,
        fewest=fewest,
        fill_ins=len(fill_ins),
    )
    by_bye = sorted(field.values(), key=lambda e: (e.byes, e.score, lots[e.bot]))
    byes = {entrant.bot for entrant in by_bye[: sizes.byes]}
    lowest = min((entrant.score for entrant in field.values()), default=Fraction())
    players = [entrant for entrant in field.values() if entrant.bot not in byes]
    players += [SwissEntrant(bot, None, lowest) for bot in fill_ins[: sizes.fill_ins]]
    players.sort(key=lambda e: (e.bot in fill_ins, -e.score, lots[e.bot]))
    owners: Owners = {entrant.bot: entrant.owner for entrant in players}
    tables = seat_apart([entrant.bot for entrant in players], sizes.tables, owners)
    Search(tables, {one.bot: one.score for one in players}, owners, met).improve(rng, swaps)
    return SwissRound([table_of(table, owners) for table in tables], tuple(sorted(byes)))


def _by_bot(standings: Iterable[SwissEntrant], fill_ins: Sequence[int]) -> dict[int, SwissEntrant]:
    field: dict[int, SwissEntrant] = {}
    for entrant in sorted(standings, key=lambda entrant: entrant.bot):
        if entrant.bot in field:
            raise ValueError(f"bot {quote(entrant.bot)} stands twice")
        field[entrant.bot] = entrant
    for bot in fill_ins:
        if bot in field or fill_ins.count(bot) > 1:
            raise ValueError(f"bot {quote(bot)} can't fill in, it has a seat of its own")
    return field
