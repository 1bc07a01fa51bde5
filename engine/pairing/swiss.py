"""Swiss rounds: like scores sit together, and nobody twice while that can be avoided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from random import Random
from typing import NamedTuple

from engine.errors import quote
from engine.pairing.seating import Party, party, seat_apart
from engine.pairing.sizes import plan_sizes
from engine.pairing.tables import Owners, Table, table_of

BLOCKS_A_TABLE = 2
BYE = Fraction(1, 2)
"""What a block not played for want of a seat counts: as much as beating half the table."""

SWAPS = 20_000
_MEETING = 10
"""What having met once costs, as a gap of so many blocks won."""


@dataclass(frozen=True, slots=True)
class Entrant:
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
    standings: Iterable[Entrant],
    met: Mapping[tuple[int, int], int],
    seats: int,
    seed: bytes,
    *,
    fewest: int = 2,
    fill_ins: Sequence[int] = (),
    swaps: int = SWAPS,
) -> SwissRound:
    """Return the next round: everybody sits at one table, or has a bye.

    Tables are filled by score with owners apart, then bots of two tables change places as long as
    that lowers the cost: over all pairs at a table, 10 times the square of how often they have met
    plus the gap of their scores (spec "Formats"). Where numbers are uneven, `plan_sizes` says what
    becomes of it; fill-ins sit as if they had the lowest score, and byes are for those who have had
    the fewest, of these the lowest scores, of these by lot.

    Args:
        standings: of all who still play, in any order.
        met: how often each pair, the lower id first, sat at a table; as `meetings` counts.
        seats: at a full table.
        seed: of this round (`derive_pairing_seed`); settles all lots.
        fewest: seats that the preset takes.
        fill_ins: house bots that are not entered and may take empty seats, the first ones first.
        swaps: that the search tries.

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
    players += [Entrant(bot, None, lowest) for bot in fill_ins[: sizes.fill_ins]]
    players.sort(key=lambda e: (e.bot in fill_ins, -e.score, lots[e.bot]))
    owners: Owners = {entrant.bot: entrant.owner for entrant in players}
    tables = seat_apart([entrant.bot for entrant in players], sizes.tables, owners)
    _Search(tables, players, met).improve(rng, swaps)
    return SwissRound([table_of(table, owners) for table in tables], tuple(sorted(byes)))


def _by_bot(standings: Iterable[Entrant], fill_ins: Sequence[int]) -> dict[int, Entrant]:
    field: dict[int, Entrant] = {}
    for entrant in sorted(standings, key=lambda entrant: entrant.bot):
        if entrant.bot in field:
            raise ValueError(f"bot {quote(entrant.bot)} stands twice")
        field[entrant.bot] = entrant
    for bot in fill_ins:
        if bot in field or fill_ins.count(bot) > 1:
            raise ValueError(f"bot {quote(bot)} can't fill in, it has a seat of its own")
    return field


class _Search:
    """Local search over tables: two bots change places if that does not cost more."""

    def __init__(
        self,
        tables: Sequence[list[int]],
        players: Sequence[Entrant],
        met: Mapping[tuple[int, int], int],
    ) -> None:
        self._tables = tables
        # Whole numbers, for they are added up a million times.
        unit = lcm(*(entrant.score.denominator for entrant in players))
        self._score = {entrant.bot: int(entrant.score * unit) for entrant in players}
        owners = {entrant.bot: entrant.owner for entrant in players}
        self._party: dict[int, Party] = {bot: party(bot, owners) for bot in owners}
        self._met: dict[int, dict[int, int]] = {bot: {} for bot in owners}
        for (a, b), times in met.items():
            if a in owners and b in owners and times:
                self._met[a][b] = self._met[b][a] = _MEETING * times**2 * unit

    def improve(self, rng: Random, swaps: int) -> None:
        """Try so many swaps of bots at different tables, and keep those that do not cost more.

        Half of them at tables where bots have met before, which are few in a big field.
        """
        tables = self._tables
        if len(tables) < 2:
            return
        again = [t for t in tables if any(b in self._met[a] for a, b in combinations(t, 2))]
        for swap in range(swaps):
            first = again if again and swap % 2 else tables
            a = first[int(rng.random() * len(first))]
            b = tables[int(rng.random() * len(tables))]
            i, j = int(rng.random() * len(a)), int(rng.random() * len(b))
            if a is not b:
                self._swap_unless_worse(a, i, b, j)

    def _swap_unless_worse(self, a: list[int], i: int, b: list[int], j: int) -> None:
        x, y = a[i], b[j]
        beside_x, beside_y = a[:i] + a[i + 1 :], b[:j] + b[j + 1 :]
        if self._is_beside_own(x, beside_y) or self._is_beside_own(y, beside_x):
            return
        before = self._cost(x, beside_x) + self._cost(y, beside_y)
        if self._cost(x, beside_y) + self._cost(y, beside_x) <= before:
            a[i], b[j] = y, x

    def _is_beside_own(self, bot: int, others: Sequence[int]) -> bool:
        """Return whether one of the others is of the bot's own party."""
        own = self._party[bot]
        return any(self._party[other] == own for other in others)

    def _cost(self, bot: int, others: Sequence[int]) -> int:
        met, score, of = self._met[bot], self._score[bot], self._score
        return sum(met.get(other, 0) + abs(score - of[other]) for other in others)
