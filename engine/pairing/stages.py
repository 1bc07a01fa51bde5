"""A knockout as it went: who sat where in each round, who went on, and how far each came."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from engine.pairing.event import Entrant, EventSettings, PlayedRound
from engine.pairing.knockout import (
    needs_extra_block,
    places_to_advance,
    seed_entrants,
)
from engine.pairing.tables import derive_pairing_seed


@dataclass(frozen=True, slots=True)
class StageTable:
    """A table of a knockout's round, over all its blocks.

    Attributes:
        entrants: as they stand, best first: by score, then by extra blocks, then by seed.
        fill_ins: house bots that are not entered.
        scores: by entrant, S over the finished regular blocks, then of each extra block.
        extra_blocks: opened so far.
        places: how many go on; 1 in the final.
    """

    entrants: tuple[int, ...]
    fill_ins: tuple[int, ...]
    scores: Mapping[int, tuple[Fraction, ...]]
    extra_blocks: int
    places: int

    def is_undecided(self, still_in: Collection[int], most: int) -> bool:
        """Return whether one more block is to be played, of those who are still in the event.

        Args:
            still_in: bots that have not left.
            most: extra blocks that may be played.
        """
        here = [bot for bot in self.entrants if bot in still_in]
        if self.extra_blocks >= most or len(here) <= self.places:
            return False
        if not any(self.scores[bot] for bot in here):
            return True  # all its blocks were given up
        return needs_extra_block({bot: self.scores[bot] for bot in here}, self.places, most)

    def through(self, still_in: Collection[int]) -> list[int]:
        """Return who goes on; the place of one that left falls to the next."""
        return [bot for bot in self.entrants if bot in still_in][: self.places]


@dataclass(frozen=True, slots=True)
class Stage:
    """A round of a knockout.

    Attributes:
        number: from 1.
        tables: the one of the best seed first.
        byes: entrants that went on without playing, best seed first.
        final: whether it decides the event.
    """

    number: int
    tables: tuple[StageTable, ...]
    byes: tuple[int, ...]
    final: bool

    @property
    def entrants(self) -> list[int]:
        """All who are in this round."""
        return [*self.byes, *(bot for table in self.tables for bot in table.entrants)]


class Reached(NamedTuple):
    """How far a bot came in a knockout.

    Attributes:
        round: the last that it was in; the winner of an event that needed no final is in one more.
        place: at its table there, 1 the best; None while that is not decided.
    """

    round: int
    place: int | None


def seeding(settings: EventSettings, entrants: Iterable[Entrant]) -> list[int]:
    """Return the seeds of a knockout, best first; it is settled when the event starts."""
    ratings = {one.bot: one.rating for one in entrants if one.started}
    return seed_entrants(ratings, derive_pairing_seed(settings.seed, 0))


def stages(rounds: Sequence[PlayedRound], seeds: Sequence[int]) -> list[Stage]:
    """Return the rounds of a knockout with their extra blocks.

    Args:
        rounds: in the order in which they were opened.
        seeds: from `seeding`.
    """
    seed = {bot: number for number, bot in enumerate(seeds)}
    numbers = sorted({round_.number for round_ in rounds})
    return [_stage(number, [r for r in rounds if r.number == number], seed) for number in numbers]


def reached(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    *,
    over: bool,
) -> dict[int, Reached]:
    """Return how far each entrant of a knockout has come.

    Args:
        settings: of the event.
        entrants: all of them.
        rounds: in the order in which they were opened.
        over: whether the last round is decided.
    """
    found = stages(rounds, seeding(settings, entrants))
    came = {bot: Reached(0, None) for bot in (one.bot for one in entrants)}
    for stage in found:
        is_decided = over or stage is not found[-1]
        came |= {bot: Reached(stage.number, 1 if is_decided else None) for bot in stage.byes}
        for table in stage.tables:
            for place, bot in enumerate(table.entrants, 1):
                came[bot] = Reached(stage.number, place if is_decided else None)
    if over and found and not found[-1].final:
        # Those left were too few for another table.
        last = found[-1]
        for place, bot in enumerate(going_on(last, entrants, seeding(settings, entrants)), 1):
            came[bot] = Reached(last.number + 1, place)
    return came


def going_on(stage: Stage, entrants: Iterable[Entrant], seeds: Sequence[int]) -> list[int]:
    """Return who goes on from a round that is decided, best seed first."""
    still_in = {one.bot for one in entrants if one.is_in(stage.number + 1)}
    through = still_in & set(stage.byes)
    for table in stage.tables:
        through.update(table.through(still_in))
    return [bot for bot in seeds if bot in through]


def _stage(number: int, rounds: Sequence[PlayedRound], seed: Mapping[int, int]) -> Stage:
    regular = [round_ for round_ in rounds if not round_.extra]
    byes = sorted({bot for round_ in regular for bot in round_.byes}, key=seed.__getitem__)
    # Entrants sit at one table of a round, so they tell which blocks belong together.
    seated: dict[tuple[int, ...], list[int]] = {}
    for round_ in regular:
        for block in round_.blocks:
            entrants = tuple(sorted((b for b in block.bots if b in seed), key=seed.__getitem__))
            seated[entrants] = [bot for bot in block.bots if bot not in seed]
    final = len(seated) == 1 and not byes
    tables = [_table(of, house, rounds, seed, final=final) for of, house in seated.items()]
    return Stage(number, tuple(tables), tuple(byes), final)


def _table(
    entrants: Sequence[int],
    fill_ins: Sequence[int],
    rounds: Sequence[PlayedRound],
    seed: Mapping[int, int],
    *,
    final: bool,
) -> StageTable:
    here = set(entrants)
    scores: dict[int, list[Fraction]] = {bot: [] for bot in entrants}
    extra_blocks = 0
    for round_ in rounds:
        blocks = [block for block in round_.blocks if here & set(block.bots)]
        extra_blocks += bool(round_.extra and blocks)
        finished = [of for block in blocks if (of := block.scores())]
        for bot in {bot for of in finished for bot in of} & here:
            scores[bot].append(sum((of[bot] for of in finished), Fraction()))
    told = {bot: tuple(of) for bot, of in scores.items()}
    return StageTable(
        entrants=tuple(sorted(entrants, key=lambda bot: (told[bot], -seed[bot]), reverse=True)),
        fill_ins=tuple(fill_ins),
        scores=told,
        extra_blocks=extra_blocks,
        places=places_to_advance(len(entrants), final=final),
    )
