"""The stages of a knockout: each round's tables and results, who advances, and the final."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from engine.pairing.event import Entrant, EventSettings, PlayedRound
from engine.pairing.knockout import needs_extra_block, places_to_advance, seed_entrants
from engine.pairing.tables import derive_pairing_seed


@dataclass(frozen=True, slots=True)
class StageTable:
    """A table of a stage, with the results of all its blocks.

    Attributes:
        entrants: ids, best first: by score, then by extra blocks, then by seed.
        fill_ins: ids of the house bots at the table that are not entered.
        scores: by entrant, S over the finished regular blocks, then the score of each extra block,
            which is 0 for an entrant that did not sit there.
        extra_blocks: the number of extra blocks opened so far.
        places: the number of entrants that advance; 1 in the final.
    """

    entrants: tuple[int, ...]
    fill_ins: tuple[int, ...]
    scores: Mapping[int, tuple[Fraction, ...]]
    extra_blocks: int
    places: int

    def is_undecided(self, still_in: Collection[int], max_extra_blocks: int) -> bool:
        """Return whether the table needs another block between the bots still in the event.

        Args:
            still_in: the ids of the bots that have not left.
            max_extra_blocks: the highest number of extra blocks.
        """
        left = [bot for bot in self.entrants if bot in still_in]
        if self.extra_blocks >= max_extra_blocks or len(left) <= self.places:
            return False
        if not any(self.scores[bot] for bot in left):
            return True  # All its blocks are void.
        scores = {bot: self.scores[bot] for bot in left}
        return needs_extra_block(scores, self.places, max_extra_blocks)

    def advancing(self, still_in: Collection[int]) -> list[int]:
        """Return the entrants that advance; the next entrant takes the place of one that left."""
        return [bot for bot in self.entrants if bot in still_in][: self.places]


@dataclass(frozen=True, slots=True)
class Stage:
    """A round of a knockout, its extra blocks included.

    Attributes:
        number: from 1.
        tables: the best seed's table first.
        byes: ids of the entrants that advance without playing, best seed first.
        final: whether it is the final.
    """

    number: int
    tables: tuple[StageTable, ...]
    byes: tuple[int, ...]
    final: bool

    @property
    def entrants(self) -> list[int]:
        """The ids of all entrants in this stage."""
        return [*self.byes, *(bot for table in self.tables for bot in table.entrants)]


class KnockoutResult(NamedTuple):
    """An entrant's result in a knockout.

    Attributes:
        round: the last round that it was in; 0 before the first. If the event ends without a final,
            the remaining entrants have one round more.
        place: its place at its table in that round, 1 the best; None if it is not decided.
    """

    round: int
    place: int | None


def seeding(settings: EventSettings, entrants: Iterable[Entrant]) -> list[int]:
    """Return the seeds of a knockout, best first; only entrants at the start have a seed."""
    ratings = {entrant.bot: entrant.rating for entrant in entrants if entrant.started}
    return seed_entrants(ratings, derive_pairing_seed(settings.seed, 0))


def stages(rounds: Sequence[PlayedRound], seeds: Sequence[int]) -> list[Stage]:
    """Return the stages of a knockout, from the first round on.

    Args:
        rounds: in the order of their opening.
        seeds: all seeds, best first, from `seeding`.
    """
    seed = {bot: number for number, bot in enumerate(seeds)}
    numbers = sorted({round_.number for round_ in rounds})
    return [_stage(number, [r for r in rounds if r.number == number], seed) for number in numbers]


def knockout_results(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    *,
    over: bool,
) -> dict[int, KnockoutResult]:
    """Return the result of each entrant of a knockout so far.

    Args:
        settings: the settings of the event.
        entrants: all bots ever entered.
        rounds: in the order of their opening.
        over: whether the event is finished.
    """
    seeds = seeding(settings, entrants)
    played = stages(rounds, seeds)
    results = {entrant.bot: KnockoutResult(0, None) for entrant in entrants}
    for stage in played:
        is_decided = over or stage is not played[-1]
        for bot in stage.byes:
            results[bot] = KnockoutResult(stage.number, 1 if is_decided else None)
        for table in stage.tables:
            for place, bot in enumerate(table.entrants, 1):
                results[bot] = KnockoutResult(stage.number, place if is_decided else None)
    if over and played and not played[-1].final:
        # The remaining entrants were too few for another table.
        last = played[-1]
        for place, bot in enumerate(advancing_bots(last, entrants, seeds), 1):
            results[bot] = KnockoutResult(last.number + 1, place)
    return results


def advancing_bots(stage: Stage, entrants: Iterable[Entrant], seeds: Sequence[int]) -> list[int]:
    """Return the entrants that advance from a decided stage, best seed first.

    Args:
        stage: the stage.
        entrants: all bots ever entered.
        seeds: all seeds, best first, from `seeding`.
    """
    still_in = {entrant.bot for entrant in entrants if entrant.is_in(stage.number + 1)}
    advancing = still_in & set(stage.byes)
    for table in stage.tables:
        advancing.update(table.advancing(still_in))
    return [bot for bot in seeds if bot in advancing]


def _stage(number: int, rounds: Sequence[PlayedRound], seed: Mapping[int, int]) -> Stage:
    """Return a stage from its regular round and its extra blocks."""
    regular = [round_ for round_ in rounds if not round_.extra]
    byes = sorted({bot for round_ in regular for bot in round_.byes}, key=seed.__getitem__)
    # An entrant sits at one table of a round, so the entrants identify the blocks of a table.
    seated: dict[tuple[int, ...], list[int]] = {}
    for round_ in regular:
        for block in round_.blocks:
            entrants = tuple(sorted((b for b in block.bots if b in seed), key=seed.__getitem__))
            seated[entrants] = [bot for bot in block.bots if bot not in seed]
    final = len(seated) == 1 and not byes
    tables = [
        _table(entrants, fill_ins, rounds, seed, final=final)
        for entrants, fill_ins in seated.items()
    ]
    return Stage(number, tuple(tables), tuple(byes), final)


def _table(
    entrants: Sequence[int],
    fill_ins: Sequence[int],
    rounds: Sequence[PlayedRound],
    seed: Mapping[int, int],
    *,
    final: bool,
) -> StageTable:
    """Return a table with its results, from all blocks of the stage."""
    here = set(entrants)
    scores: dict[int, tuple[Fraction, ...]] = dict.fromkeys(entrants, ())
    extra_blocks = 0
    for round_ in rounds:
        blocks = [block for block in round_.blocks if here & set(block.bots)]
        extra_blocks += bool(round_.extra and blocks)
        finished = [shares for block in blocks if (shares := block.scores())]
        for bot in entrants if finished else ():
            # Also one that did not sit there: it may be back in the event.
            scores[bot] += (sum((shares.get(bot, Fraction()) for shares in finished), Fraction()),)
    return StageTable(
        entrants=tuple(sorted(entrants, key=lambda bot: (scores[bot], -seed[bot]), reverse=True)),
        fill_ins=tuple(fill_ins),
        scores=scores,
        extra_blocks=extra_blocks,
        places=places_to_advance(len(entrants), final=final),
    )
