"""Whole events: what the organiser settled, who is entered, and what has been played so far."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from engine.pairing.swiss import BYE, SWAPS
from engine.pairing.tables import (
    MAX_EXTRA_BLOCKS,
    MAX_TABLES,
    Owners,
    Table,
    are_owners_apart,
)
from engine.pairing.tiebreaks import PlayedMatch
from engine.rating.blocks import MatchResult, pair_results


class Format(StrEnum):
    """What decides who sits together next (spec "Formats")."""

    ROUND_ROBIN = "round-robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"


@dataclass(frozen=True, slots=True)
class EventSettings:
    """What is settled before an event starts.

    Attributes:
        format: of the event.
        seats: at a full table.
        seed: 32 bytes, of the whole event; left out of the repr.
        fewest: seats that the preset takes.
        blocks: that each table plays in a round.
        rounds: of a swiss; None for `swiss_rounds` of those who start.
        max_tables: of a round robin (`round_robin`).
        extra_blocks: that a table of a knockout plays at most for a tie at the cut.
        swaps: that the search for a swiss round tries.
    """

    format: Format
    seats: int
    seed: bytes = field(repr=False)
    fewest: int = 2
    blocks: int = 1
    rounds: int | None = None
    max_tables: int = MAX_TABLES
    extra_blocks: int = MAX_EXTRA_BLOCKS
    swaps: int = SWAPS


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that was in the event when it started, or came later.

    Attributes:
        bot: its id.
        owner: None for a house bot, which may meet any other.
        rating: in milli-Elo when it came; knockouts are seeded by it.
        first_round: the first that it may be drawn for: 1, later for a late entrant.
        left_after: how many rounds had been opened when it left; None for one that is still in.
        disqualified: whether it was made to leave, and so has no rank.
        away: whether it sits out the round to be drawn, without points. Nothing that was drawn
            before hangs on it. A knockout takes no notice: nobody there sits a round out and goes
            on.
    """

    bot: int
    owner: int | None
    rating: int = 0
    first_round: int = 1
    left_after: int | None = None
    disqualified: bool = False
    away: bool = False

    @property
    def started(self) -> bool:
        """Whether it was in when the event began."""
        return self.is_in(1)

    def is_in(self, number: int) -> bool:
        """Return whether it may be drawn for a round, as far as is known now."""
        return self.first_round <= number and not self.has_left_before(number)

    def has_left_before(self, number: int) -> bool:
        """Return whether it had left when round ``number`` was opened, or would be."""
        return self.left_after is not None and self.left_after < number


@dataclass(frozen=True, slots=True)
class PlayedBlock:
    """A block of a round.

    Attributes:
        bots: at its table, fill-ins included.
        matches: of the block; none if it is void or still in play.
        void: whether it was given up.
    """

    bots: tuple[int, ...]
    matches: tuple[PlayedMatch, ...] = ()
    void: bool = False

    def scores(self) -> dict[int, Fraction]:
        """Return the mean share of opponents beaten by bot, ties half; empty if not finished."""
        if not self.matches:
            return {}
        results = pair_results([MatchResult(of.seating, of.places) for of in self.matches])
        taken: dict[int, Fraction] = defaultdict(Fraction)
        for (bot, _), s_ij in results.items():
            taken[bot] += s_ij / (len(self.bots) - 1)
        return dict(taken)


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A round as it was opened, with what has come of it.

    Attributes:
        number: from 1; an extra block of a knockout has the number of the round that it decides.
        extra: 0, and from 1 for extra blocks.
        blocks: table by table.
        byes: by bot, the blocks that it sits out for want of a seat or of opponents.
    """

    number: int
    extra: int
    blocks: tuple[PlayedBlock, ...]
    byes: Mapping[int, int] = field(default_factory=dict)


class NextRound(NamedTuple):
    """A round to open.

    Attributes:
        number: as in `PlayedRound`.
        extra: as in `PlayedRound`.
        tables: one for each block; a table that plays several stands several times.
        byes: as in `PlayedRound`.
    """

    number: int
    extra: int
    tables: list[Table]
    byes: dict[int, int]


def owners_of(entrants: Iterable[Entrant]) -> dict[int, int | None]:
    """Return the owner of each bot."""
    return {one.bot: one.owner for one in entrants}


def awarded(rounds: Iterable[PlayedRound]) -> dict[int, Fraction]:
    """Return what counts without having been played: `BYE` for a block sat out or given up."""
    missed: Counter[int] = Counter()
    for round_ in rounds:
        missed.update(round_.byes)
        missed.update(bot for block in round_.blocks if block.void for bot in block.bots)
    return {bot: BYE * blocks for bot, blocks in missed.items()}


def finished_blocks(rounds: Iterable[PlayedRound]) -> list[tuple[PlayedMatch, ...]]:
    """Return the matches of each finished block."""
    return [block.matches for round_ in rounds for block in round_.blocks if block.matches]


def rounds_opened(rounds: Sequence[PlayedRound]) -> int:
    """Return how many rounds have been opened; extra blocks are no rounds of their own."""
    return rounds[-1].number if rounds else 0


def table_without_the_gone(
    table: Sequence[int],
    gone: Iterable[int],
    fill_ins: Sequence[int],
    settings: EventSettings,
    owners: Owners,
) -> Table | None:
    """Return a table with house bots in the seats of those who left, as far as there are any.

    Without them it is smaller; None if nobody is left, or too few for the preset.
    """
    here = [bot for bot in table if bot not in set(gone)]
    if not any(bot in owners for bot in here):
        return None
    free = [bot for bot in fill_ins if bot not in here]
    here += free[: max(settings.seats - len(here), 0)]
    if len(here) < max(settings.fewest, 2):
        return None
    known = {bot: owners.get(bot) for bot in here}
    return Table(tuple(sorted(here)), are_owners_apart(here, known))
