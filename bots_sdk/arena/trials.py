"""A trial: blocks of a bot against opponents, as a ladder plays them, and their results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.figures import Share, Times, share, times
from bots_sdk.arena.matches import FaultReport, Fixture, MatchType, PlayedMatch
from engine.blocks import derive_block_seed, plan_block
from engine.rating.results import pair_results

_TRIED = 0
"""The id of the tried bot at every table, and its contestant."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial before it is played.

    Attributes:
        table: the game, the preset and the number of seats.
        bot: the tried bot.
        field: the opponents, which take turns; at least one.
        blocks: the number of blocks; a block has as many matches as seats.
        seed: the seed of all deals and seats, 32 bytes.
    """

    table: MatchType
    bot: Contestant
    field: tuple[Contestant, ...]
    blocks: int
    seed: bytes

    @property
    def contestants(self) -> tuple[Contestant, ...]:
        """The bot, then the field."""
        return (self.bot, *self.field)

    @property
    def matches(self) -> int:
        """The number of matches."""
        return self.blocks * self.table.seats

    def fixtures(self) -> Iterator[Fixture]:
        """Yield the matches block by block, with duplicate deals (`engine.blocks`)."""
        seats = self.table.seats
        labels = None
        for block in range(self.blocks):
            plan = plan_block(
                derive_block_seed(self.seed, block),
                range(seats),
                duplicate=True,
                odd_repeat=block % 2 == 1,
                labels=labels,
            )
            labels = plan.bots
            for match in plan.matches:
                yield Fixture(
                    number=block * seats + match.index + 1,
                    block=block,
                    deal_seed=match.deal_seed,
                    bots=(_TRIED, *self._opponents(block)),
                    seating=match.seating,
                )

    def fixture(self, number: int) -> Fixture:
        """Return a match by its number."""
        found = next((each for each in self.fixtures() if each.number == number), None)
        if found is None:
            raise ValueError(f"there is no match {number}; they are 1 to {self.matches}")
        return found

    def _opponents(self, block: int) -> list[int]:
        """Return the opponents in a block; all opponents play equally often."""
        places = self.table.seats - 1
        return [1 + (block * places + place) % len(self.field) for place in range(places)]


@dataclass(frozen=True, slots=True)
class ContestantSummary:
    """The results of one contestant.

    Attributes:
        contestant: the contestant.
        matches: the number of its seats in complete blocks.
        share: the tried bot's win share against it; None for the tried bot.
        place: its mean place.
        score: its mean score.
    """

    contestant: Contestant
    matches: int
    share: Share | None
    place: float
    score: float


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """The results of a trial.

    Attributes:
        matches: the number of finished matches.
        blocks: the number of complete blocks; only these count.
        share: the bot's win share against the opponents; None without a complete block.
        places: the number of matches that the bot finished in place 1, 2...
        contestants: the results of the bot, then of each opponent.
        times: the times of the bot's moves, in all matches.
        faults: the number of the bot's faults by kind, in all matches.
        forfeits: the number of matches that the bot forfeited.
        others_faults: the number of faults by opponent.
    """

    matches: int
    blocks: int
    share: Share | None
    places: tuple[int, ...]
    contestants: tuple[ContestantSummary, ...]
    times: Times
    faults: dict[str, int]
    forfeits: int
    others_faults: dict[str, int]


@dataclass(slots=True)
class TrialResults:
    """Collects the matches of a trial, in any order."""

    trial: Trial
    played: dict[int, PlayedMatch] = field(default_factory=dict)

    def add(self, played: PlayedMatch) -> list[FaultReport]:
        """Add a match, and return the faults of the tried bot in it."""
        self.played[played.fixture.number] = played
        return [fault for fault in played.faults if fault.bot == _TRIED]

    def blocks(self) -> list[list[PlayedMatch]]:
        """Return the complete blocks in order, each with its matches in order."""
        seats = self.trial.table.seats
        found = []
        for block in range(self.trial.blocks):
            numbers = range(block * seats + 1, (block + 1) * seats + 1)
            if all(number in self.played for number in numbers):
                found.append([self.played[number] for number in numbers])
        return found

    def own_places(self) -> list[int]:
        """Return the places of the tried bot in all finished matches, in their order."""
        return [_own_place(self.played[number]) for number in sorted(self.played)]

    def own_times(self) -> Times:
        """Return the times of the tried bot's moves in all finished matches."""
        return times(played.seconds[_TRIED] for played in self.played.values())

    def summary(self) -> TrialSummary:
        """Return the results so far; they do not depend on the order of the matches."""
        blocks = self.blocks()
        matches = [self.played[number] for number in sorted(self.played)]
        overall: list[float] = []
        against: dict[int, list[float]] = {}
        for block in blocks:
            shares = pair_results([each.result for each in block])
            bots = block[0].fixture.bots
            by_contestant: dict[int, list[float]] = {}
            for bot, index in enumerate(bots[1:], start=1):
                by_contestant.setdefault(index, []).append(float(shares[_TRIED, bot]))
            overall.append(fmean(value for values in by_contestant.values() for value in values))
            for index, values in by_contestant.items():
                against.setdefault(index, []).append(fmean(values))
        counted = [each for block in blocks for each in block]
        faults: dict[str, int] = {}
        others: dict[str, int] = {}
        for played in matches:
            for fault in played.faults:
                if fault.bot == _TRIED:
                    faults[fault.kind] = faults.get(fault.kind, 0) + 1
                else:
                    name = self.trial.contestants[played.fixture.bots[fault.bot]].name
                    others[name] = others.get(name, 0) + 1
        return TrialSummary(
            matches=len(matches),
            blocks=len(blocks),
            share=share(overall) if overall else None,
            places=_places(counted, self.trial.table.seats),
            contestants=tuple(
                self._of_contestant(index, counted, against.get(index))
                for index in range(len(self.trial.contestants))
            ),
            times=self.own_times(),
            faults=faults,
            forfeits=sum(each.fixture.seating.index(_TRIED) in each.forfeited for each in matches),
            others_faults=others,
        )

    def _of_contestant(
        self, index: int, counted: Sequence[PlayedMatch], against: Sequence[float] | None
    ) -> ContestantSummary:
        places, scores = [], []
        for played in counted:
            for seat, bot in enumerate(played.fixture.seating):
                if played.fixture.bots[bot] == index and (bot == _TRIED) == (index == _TRIED):
                    places.append(played.result.places[seat])
                    scores.append(played.record.scores[seat])
        return ContestantSummary(
            contestant=self.trial.contestants[index],
            matches=len(places),
            share=share(against) if against else None,
            place=fmean(places) if places else 0.0,
            score=fmean(scores) if scores else 0.0,
        )


def _places(counted: Sequence[PlayedMatch], seats: int) -> tuple[int, ...]:
    """Return how often the tried bot finished in each place."""
    found = [0] * seats
    for played in counted:
        found[_own_place(played) - 1] += 1
    return tuple(found)


def _own_place(played: PlayedMatch) -> int:
    """Return the place of the tried bot in a match."""
    return played.result.places[played.fixture.seating.index(_TRIED)]
