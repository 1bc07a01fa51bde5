"""Whole events with random results, late entrants, withdrawals and void blocks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import settings
from hypothesis import strategies as st

from engine.games.game import places
from engine.pairing import (
    Entrant,
    EventSettings,
    Format,
    NextRound,
    PlayedBlock,
    PlayedRound,
    Table,
    next_round,
    rounds_opened,
)
from engine.rating.results import MatchResult
from tests.engine.pairing.fields import Owners, fields, seats, seeds

MAX_ROUNDS = 2000
"""More rounds than any event in the tests has."""

fewer = settings(max_examples=max(settings().max_examples // 3, 20))
"""Settings for properties whose examples are whole events."""

formats = st.sampled_from(Format)
small_fields = fields(max_bots=9)
rates = st.sampled_from([0, 0.1, 0.4])


@dataclass
class Simulated:
    """An event and all that happened in it.

    Attributes:
        drawn: the rounds as they were drawn, with who was in when they were.
    """

    settings: EventSettings
    entrants: dict[int, Entrant]
    fill_ins: Sequence[int] = ()
    rounds: list[PlayedRound] = field(default_factory=list)
    drawn: list[tuple[dict[int, Entrant], NextRound]] = field(default_factory=list)

    def next(self) -> NextRound | None:
        return next_round(self.settings, [*self.entrants.values()], self.rounds, self.fill_ins)

    def in_event(self) -> dict[int, Entrant]:
        number = rounds_opened(self.rounds) + 1
        return {bot: one for bot, one in self.entrants.items() if one.is_in(number)}

    def leave(self, bot: int, *, disqualified: bool = False) -> None:
        opened = rounds_opened(self.rounds)
        one = self.entrants[bot]
        self.entrants[bot] = replace(one, left_after=opened, disqualified=disqualified)

    def come(self, bot: int, owner: int | None) -> None:
        number = rounds_opened(self.rounds) + 1
        self.entrants[bot] = Entrant(bot, owner, first_round=number)

    def come_back(self, bot: int) -> None:
        """Enter a bot again, as the league does: late if no round could draw it before."""
        opened = rounds_opened(self.rounds)
        one = self.entrants[bot]
        assert one.left_after is not None
        if one.left_after < one.first_round:
            self.entrants[bot] = replace(one, left_after=None, first_round=opened + 1)
        else:
            missed = one.missed_rounds | {*range(one.left_after + 1, opened + 1)}
            self.entrants[bot] = replace(one, left_after=None, missed_rounds=missed)

    def play(self, drawn: NextRound, luck: Random, *, void: float = 0) -> None:
        self.drawn.append((self.in_event(), drawn))
        blocks = [block(table, luck, void=luck.random() < void) for table in drawn.tables]
        self.rounds.append(PlayedRound(drawn.number, drawn.extra, tuple(blocks), drawn.byes))


def block(table: Table, luck: Random, *, void: bool = False) -> PlayedBlock:
    """Return a block whose places fall by luck, with many ties."""
    if void:
        return PlayedBlock(table.bots, void=True)
    matches = []
    for _ in table.bots:
        points = [luck.randrange(3) for _ in table.bots]
        matches.append(MatchResult(table.bots, places(points), tuple(points)))
    return PlayedBlock(table.bots, tuple(matches))


def start(
    of: Format,
    owners: Owners,
    seats: int,
    seed: bytes,
    *,
    luck: Random,
    min_seats: int = 2,
    blocks: int = 1,
    house: int = 0,
) -> Simulated:
    """Return an event that has not begun."""
    entered = {
        bot: Entrant(bot, owner, rating=luck.randrange(1400, 1600) * 1000)
        for bot, owner in owners.items()
    }
    settings = EventSettings(
        of, seats, seed, min_seats=min(min_seats, seats), blocks=blocks, max_swaps=50
    )
    return Simulated(settings, entered, range(10_000, 10_000 + house))


def play_out(
    event: Simulated, luck: Random, *, withdrawals: float = 0, late: float = 0, void: float = 0
) -> Simulated:
    """Play an event to its end; before each round some leave and some come, by luck."""
    newcomer = 5000
    for _ in range(MAX_ROUNDS):
        if event.rounds:
            for bot in event.in_event():
                if luck.random() < withdrawals:
                    event.leave(bot, disqualified=luck.random() < 0.3)
            if luck.random() < late and newcomer < 5003:
                event.come(newcomer, luck.choice([None, 1, 2, newcomer]))
                newcomer += 1
        drawn = event.next()
        if drawn is None:
            return event
        event.play(drawn, luck, void=void)
    raise AssertionError(f"{event.settings.format} does not end")


def blocks_by_bot(event: Simulated) -> Counter[int]:
    """Return how many blocks each bot sat at, sat out, or saw given up."""
    counted: Counter[int] = Counter()
    for round_ in event.rounds:
        counted.update(bot for block in round_.blocks for bot in block.bots)
        counted.update(round_.byes)
    return counted


@st.composite
def events(draw: st.DrawFn) -> Simulated:
    """Draw an event of any format, played to its end."""
    luck = Random(draw(st.integers(0, 10**6)))
    of = draw(formats)
    event = start(
        of,
        # A round robin of more is long: every few of them make a table.
        draw(fields(max_bots=6) if of == Format.ROUND_ROBIN else small_fields),
        draw(seats),
        draw(seeds),
        luck=luck,
        min_seats=draw(st.integers(2, 3)),
        blocks=draw(st.integers(1, 3)),
        house=draw(st.sampled_from([0, 0, 3, 8])),
    )
    late = 0 if of == Format.KNOCKOUT else draw(rates)
    return play_out(event, luck, withdrawals=draw(rates), late=late, void=draw(rates) / 2)
