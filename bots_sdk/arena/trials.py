"""A trial: blocks of a bot against a field, as a ladder plays them, and what they came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.figures import Share, Times, share, times
from bots_sdk.arena.matches import FaultSeen, Fixture, Played, Table
from engine.rating.blocks import derive_block_seed, pair_results, plan_block

_MINE = 0
"""The id of the bot that is tried, at every table; the contestant it is, too."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be played.

    Attributes:
        table: what is played, and by how many.
        bot: that is tried.
        field: its opponents, at least one; they take turns at the table.
        blocks: how many, each as many matches as there are seats.
        seed: 32 bytes, from which all deals and seats come.
    """

    table: Table
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
        """How many there are in all."""
        return self.blocks * self.table.seats

    def fixtures(self) -> Iterator[Fixture]:
        """Yield the matches, block by block: `engine.rating.blocks` with duplicate deals."""
        seats = self.table.seats
        for block in range(self.blocks):
            plan = plan_block(
                derive_block_seed(self.seed, block),
                range(seats),
                duplicate=True,
                odd_repeat=block % 2 == 1,
            )
            for match in plan.matches:
                yield Fixture(
                    number=block * seats + match.index + 1,
                    block=block,
                    deal_seed=match.deal_seed,
                    bots=(_MINE, *self._opponents(block)),
                    seating=match.seating,
                )

    def fixture(self, number: int) -> Fixture:
        """Return a match by its number."""
        found = next((each for each in self.fixtures() if each.number == number), None)
        if found is None:
            raise ValueError(f"there is no match {number}; they are 1 to {self.matches}")
        return found

    def _opponents(self, block: int) -> list[int]:
        """Return the contestants of a block besides the bot: each as often as the others."""
        places = self.table.seats - 1
        return [1 + (block * places + place) % len(self.field) for place in range(places)]


@dataclass(frozen=True, slots=True)
class Line:
    """How a contestant did.

    Attributes:
        contestant: who.
        matches: that count; one in which it sat twice is two.
        share: of the bot that is tried, against this one; None for the bot itself.
        place: mean place.
        score: mean score.
    """

    contestant: Contestant
    matches: int
    share: Share | None
    place: float
    score: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What a trial came to.

    Attributes:
        matches: played.
        blocks: that are complete, and count.
        share: of the bot against the field; None without a complete block.
        places: how often it came in 1st, 2nd...; a forfeit is last.
        lines: of the bot, then of the field.
        times: of the bot's moves, in all matches.
        faults: of the bot by kind, in all matches.
        forfeits: of the bot, in all matches.
        others_faults: by contestant, how many faults the others had.
    """

    matches: int
    blocks: int
    share: Share | None
    places: tuple[int, ...]
    lines: tuple[Line, ...]
    times: Times
    faults: dict[str, int]
    forfeits: int
    others_faults: dict[str, int]


@dataclass(slots=True)
class Results:
    """Collects the matches of a trial, in whatever order they end."""

    trial: Trial
    played: dict[int, Played] = field(default_factory=dict)

    def add(self, played: Played) -> list[FaultSeen]:
        """Take a match; return the faults of the bot in it."""
        self.played[played.fixture.number] = played
        return [fault for fault in played.faults if fault.bot == _MINE]

    def blocks(self) -> list[list[Played]]:
        """Return the complete blocks in order, each with its matches in order."""
        seats = self.trial.table.seats
        found = []
        for block in range(self.trial.blocks):
            numbers = range(block * seats + 1, (block + 1) * seats + 1)
            if all(number in self.played for number in numbers):
                found.append([self.played[number] for number in numbers])
        return found

    def summary(self) -> Summary:
        """Return what it came to so far; the order in which matches ended changes nothing."""
        blocks = self.blocks()
        matches = [self.played[number] for number in sorted(self.played)]
        overall: list[float] = []
        against: dict[int, list[float]] = {}
        for block in blocks:
            shares = pair_results([each.result for each in block])
            bots = block[0].fixture.bots
            by_contestant: dict[int, list[float]] = {}
            for bot, index in enumerate(bots[1:], start=1):
                by_contestant.setdefault(index, []).append(float(shares[_MINE, bot]))
            overall.append(fmean(value for values in by_contestant.values() for value in values))
            for index, values in by_contestant.items():
                against.setdefault(index, []).append(fmean(values))
        counted = [each for block in blocks for each in block]
        faults: dict[str, int] = {}
        others: dict[str, int] = {}
        for played in matches:
            for fault in played.faults:
                if fault.bot == _MINE:
                    faults[fault.kind] = faults.get(fault.kind, 0) + 1
                else:
                    name = self.trial.contestants[played.fixture.bots[fault.bot]].name
                    others[name] = others.get(name, 0) + 1
        return Summary(
            matches=len(matches),
            blocks=len(blocks),
            share=share(overall) if overall else None,
            places=_places(counted, self.trial.table.seats),
            lines=tuple(
                self._line(index, counted, against.get(index))
                for index in range(len(self.trial.contestants))
            ),
            times=times(each.seconds[_MINE] for each in matches),
            faults=faults,
            forfeits=sum(each.fixture.seating.index(_MINE) in each.forfeited for each in matches),
            others_faults=others,
        )

    def _line(self, index: int, counted: Sequence[Played], against: Sequence[float] | None) -> Line:
        places, scores = [], []
        for played in counted:
            for seat, bot in enumerate(played.fixture.seating):
                if played.fixture.bots[bot] == index and (bot == _MINE) == (index == _MINE):
                    places.append(played.result.places[seat])
                    scores.append(played.record.scores[seat])
        return Line(
            contestant=self.trial.contestants[index],
            matches=len(places),
            share=share(against) if against else None,
            place=fmean(places) if places else 0.0,
            score=fmean(scores) if scores else 0.0,
        )


def _places(counted: Sequence[Played], seats: int) -> tuple[int, ...]:
    """Return how often the bot came in at each place."""
    found = [0] * seats
    for played in counted:
        found[played.result.places[played.fixture.seating.index(_MINE)] - 1] += 1
    return tuple(found)
