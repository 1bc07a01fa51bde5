"""Events: the settings, the entrants, and the rounds played so far, as input of `next_round`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from engine.blocks import MIN_SEATS
from engine.errors import quote
from engine.pairing.swiss import BYE_SCORE, MAX_SWAPS
from engine.pairing.tables import MAX_EXTRA_BLOCKS, MAX_TABLES, Owners, Table, table_of
from engine.rating.results import MatchResult, pair_results, win_shares


class Format(StrEnum):
    """The rule that decides who sits together next."""

    ROUND_ROBIN = "round-robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"


@dataclass(frozen=True, slots=True)
class EventSettings:
    """The settings of an event, fixed before it starts.

    Attributes:
        format: the event's format.
        seats: the seats of a full table.
        seed: 32 bytes; all random choices of the event come from it. Not in the repr.
        min_seats: the fewest seats that the preset allows, at least 2.
        blocks: the number of blocks that each table plays in a round.
        rounds: the number of rounds of a Swiss; None for `default_swiss_rounds`.
        max_tables: the highest number of tables of a round robin; see `round_robin`.
        extra_blocks: the highest number of extra blocks of a knockout table with a tie at the cut.
        max_swaps: the number of swaps that the search for a Swiss round tries.

    Raises:
        ValueError: ``min_seats`` is below 2.
    """

    format: Format
    seats: int
    seed: bytes = field(repr=False)
    min_seats: int = MIN_SEATS
    blocks: int = 1
    rounds: int | None = None
    max_tables: int = MAX_TABLES
    extra_blocks: int = MAX_EXTRA_BLOCKS
    max_swaps: int = MAX_SWAPS

    def __post_init__(self) -> None:
        if self.min_seats < MIN_SEATS:
            raise ValueError(f"min_seats must be at least {MIN_SEATS}, not {quote(self.min_seats)}")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that is or was entered in an event.

    Attributes:
        bot: the bot's id.
        owner: the owner's id; None for a house bot, which may meet any other bot.
        rating: in milli-Elo at its entry; it decides the seeds of a knockout.
        first_round: the first round that it may be drawn for: 1, or more for a late entrant.
        left_after: the number of rounds opened before it left; None if it is still in.
        missed_rounds: the rounds that were drawn after it left and before it came back.
        disqualified: whether an organiser removed it; then it has no rank.
        sits_out: whether it sits out the next round, without points. It has no effect on earlier
            rounds, and none in a knockout.
    """

    bot: int
    owner: int | None
    rating: int = 0
    first_round: int = 1
    left_after: int | None = None
    missed_rounds: frozenset[int] = frozenset()
    disqualified: bool = False
    sits_out: bool = False

    @property
    def started(self) -> bool:
        """Whether it was in the event at its start."""
        return self.is_in(1)

    def is_in(self, number: int) -> bool:
        """Return whether it may be drawn for round ``number``, given what is known now."""
        return self.first_round <= number and not self.is_away(number)

    def is_away(self, number: int) -> bool:
        """Return whether it had left when round ``number`` was opened."""
        has_left = self.left_after is not None and self.left_after < number
        return has_left or number in self.missed_rounds


@dataclass(frozen=True, slots=True)
class PlayedBlock:
    """A block of a round.

    Attributes:
        bots: the ids of the bots at its table, fill-ins included.
        matches: the results of its matches; empty if it is void or not finished.
        void: whether it is cancelled.
    """

    bots: tuple[int, ...]
    matches: tuple[MatchResult, ...] = ()
    void: bool = False

    def scores(self) -> dict[int, Fraction]:
        """Return the win share of each bot; empty if the block is void or not finished."""
        return win_shares(pair_results(self.matches)) if self.matches else {}


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A round that was opened, with its results so far.

    Attributes:
        number: from 1; the extra blocks of a knockout have the number of the round they decide.
        extra: 0 for a regular round; 1, 2, ... for the extra blocks.
        blocks: the blocks of the round, table by table.
        byes: by bot, the number of blocks that it sits out because it has no seat or opponents.
    """

    number: int
    extra: int
    blocks: tuple[PlayedBlock, ...]
    byes: Mapping[int, int] = field(default_factory=dict)


class NextRound(NamedTuple):
    """A round to open.

    Attributes:
        number: see `PlayedRound`.
        extra: see `PlayedRound`.
        tables: a table for each block; a table with several blocks is listed several times.
        byes: see `PlayedRound`.
    """

    number: int
    extra: int
    tables: list[Table]
    byes: dict[int, int]


def owners_of(entrants: Iterable[Entrant]) -> dict[int, int | None]:
    """Return the owner of each bot."""
    return {entrant.bot: entrant.owner for entrant in entrants}


def count_missed_blocks(rounds: Iterable[PlayedRound]) -> Counter[int]:
    """Return by bot the number of blocks that it sat out, or that are void."""
    missed: Counter[int] = Counter()
    for round_ in rounds:
        missed.update(round_.byes)
        missed.update(bot for block in round_.blocks if block.void for bot in block.bots)
    return missed


def awarded_scores(rounds: Iterable[PlayedRound]) -> dict[int, Fraction]:
    """Return by bot the score without play: `BYE_SCORE` for each block that it missed."""
    return {bot: BYE_SCORE * blocks for bot, blocks in count_missed_blocks(rounds).items()}


def finished_blocks(rounds: Iterable[PlayedRound]) -> list[tuple[MatchResult, ...]]:
    """Return the match results of each finished block, in order."""
    return [block.matches for round_ in rounds for block in round_.blocks if block.matches]


def rounds_opened(rounds: Sequence[PlayedRound]) -> int:
    """Return the number of rounds opened so far; extra blocks do not count as rounds."""
    return rounds[-1].number if rounds else 0


def filled_table(
    bots: Sequence[int],
    fill_ins: Iterable[int],
    seats: int,
    settings: EventSettings,
    owners: Owners,
) -> Table | None:
    """Return the table of these bots, with fill-ins up to a number of seats.

    Args:
        bots: the bots at the table.
        fill_ins: ids of house bots that may take empty seats, in order of preference.
        seats: the number of seats to fill up to. Without enough fill-ins the table is smaller.
        settings: the settings of the event.
        owners: the owners of all entrants; bots without an entry are fill-ins.

    Returns:
        None if the table would have fewer seats than the preset allows.
    """
    free = [bot for bot in fill_ins if bot not in bots]
    seated = [*bots, *free[: max(seats - len(bots), 0)]]
    if len(seated) < settings.min_seats:
        return None
    return table_of(seated, {bot: owners.get(bot) for bot in seated})
