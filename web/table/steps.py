"""Steps of a match for people, formatted from its events; a step is a day or a trick.

Live pages and replays share this code: `build` formats the events that it receives, whether all
cards are in them or only what the public may see. `web.table.twelve_days` and
`web.table.partridge` format the events of one game each.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.games.events import Event, HandDealt, HandShown, MatchOver
from engine.sentences import as_sentence, winners


class Card(NamedTuple):
    """A card in a hand, with its marks: given, received, played, scored."""

    rank: int
    marks: tuple[str, ...] = ()


class Phase(NamedTuple):
    """A phase of a match that is complete.

    Attributes:
        events: what happened in it, as far as the page may show it.
        faults: seat and kind of each fault in it.
    """

    events: Sequence[Event]
    faults: Sequence[tuple[int, str]] = ()


@dataclass(slots=True)
class SeatStep:
    """What one seat did in a step.

    Attributes:
        seat: its number.
        name: of the bot.
        hand: at the start of the step, with the cards received since; None if it is hidden.
        before: points before the step.
        points: points after it.
        played: cards on the table; empty for a pass, None before the seat has acted.
        given: card given to the left neighbour; None before that, or if it is hidden.
        drawn: card drawn at the end of the day; None before that, or if it is hidden.
        order: number of seats that acted before it.
        leads: whether it led the trick.
        forced: whether it passed because it could not play; false if that is hidden.
        won: whether it won the day, the trick or the match.
        took_back: whether it took its last cards back.
        faults: kinds of fault; for each the referee chose the move.
        extra: a further remark.
        place: at the end of the match; 0 before.
        total: how its points at the end add up, or what it won; "" before.
    """

    seat: int
    name: str
    hand: list[Card] | None
    before: int
    points: int
    played: list[int] | None = None
    given: int | None = None
    drawn: int | None = None
    order: int = 0
    leads: bool = False
    forced: bool = False
    won: bool = False
    took_back: bool = False
    faults: list[str] = field(default_factory=list)
    extra: str = ""
    place: int = 0
    total: str = ""

    @property
    def held(self) -> list[Card]:
        """The cards in hand after the step; none if they are hidden."""
        gone = {"given"} if self.took_back else {"given", "played"}
        return [card for card in self.hand or () if not gone & {*card.marks}]

    @property
    def on_felt(self) -> list[Card]:
        """The cards on the felt."""
        return [] if self.took_back else [Card(rank) for rank in self.played or ()]

    @property
    def passes(self) -> bool:
        """Whether it passed."""
        return self.played == []

    @property
    def change(self) -> int:
        """Points gained in this step."""
        return self.points - self.before


@dataclass(slots=True)
class Step:
    """A day, a trick or the end of a match, as a page shows it.

    Attributes:
        group: the part of the match that it belongs to, such as ``Round 1``.
        label: its name in the list of steps.
        title: its headline.
        seats: in the order of seats.
        pot: the day cards at stake.
        pool: gifts that no seat has yet, after the step.
        reasons: sentences on what happened and why.
    """

    group: str
    label: str
    title: str
    seats: list[SeatStep]
    pot: list[int] = field(default_factory=list)
    pool: int = 0
    reasons: list[str] = field(default_factory=list)

    @property
    def stake(self) -> int:
        """Points at stake."""
        return sum(self.pot)

    @property
    def note(self) -> str:
        """The sentences on what happened and why; at the end, each on its own line."""
        return ("\n" if self.is_end else " ").join(self.reasons)

    @property
    def is_end(self) -> bool:
        """Whether it is the end of the match: there, the totals of the seats lie on the felt."""
        return self.group == "End"

    @property
    def why(self) -> str:
        """The sentences for the line above the felt: at the end, who wins."""
        return self.reasons[0] if self.is_end else self.note

    @property
    def by_place(self) -> list[SeatStep]:
        """The seats, at the end of the match by place, before by number."""
        return sorted(self.seats, key=lambda seat: (seat.place, seat.seat))

    @property
    def table(self) -> list[SeatStep]:
        """The seats that have acted, in the order that they acted."""
        acted = [seat for seat in self.seats if seat.played is not None]
        return sorted(acted, key=lambda seat: seat.order)

    @property
    def has_faults(self) -> bool:
        """Whether the referee chose a move for a seat."""
        return any(seat.faults for seat in self.seats)


class Steps(ABC):
    """Builds the steps of one match from its events.

    Attributes:
        names: of the bots, by seat.
        points: of each seat so far.
        hands: of each seat at the start of the step in progress; None if hidden.
        done: the steps that are complete.
        step: the step in progress; None before the deal and after the end.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.points = [0] * len(names)
        self.hands: list[list[int] | None] = [None for _ in names]
        self.done: list[Step] = []
        self.step: Step | None = None
        self._explained: Event | None = None

    def add(self, phase: Phase) -> None:
        """Format the events and faults of the next phase."""
        for seat, kind in phase.faults:
            self.current.seats[seat].faults.append(kind)
        for event in phase.events:
            self._format(event)
            if isinstance(event, HandDealt | HandShown):
                self.hands[event.seat] = None if event.cards is None else list(event.cards)

    @abstractmethod
    def _format(self, event: Event) -> None:
        """Add one event to the step in progress, or begin the next step with it."""

    @abstractmethod
    def describe_decision(self) -> None:
        """Describe the pending decision in the step in progress, for a live page."""

    @property
    def current(self) -> Step:
        """The step in progress."""
        assert self.step is not None, "no step is in progress"
        return self.step

    def begin(self, group: str, label: str, title: str) -> Step:
        """Begin the next step with the hands and points as they are."""
        seats = []
        for seat, (name, hand) in enumerate(zip(self.names, self.hands, strict=True)):
            shown = None if hand is None else [Card(rank) for rank in sorted(hand)]
            seats.append(SeatStep(seat, name, shown, self.points[seat], self.points[seat]))
        self.step = Step(group, label, title, seats)
        return self.step

    def finish(self) -> None:
        """Finish the step in progress, if there is one, with the points as they are."""
        if self.step is None:
            return
        for seat in self.step.seats:
            seat.points = self.points[seat.seat]
        self.done.append(self.step)
        self.step = None

    def explain(self, event: Event) -> None:
        """Add the sentence of an event to the step in progress."""
        said = as_sentence(event, self.names, after=self._explained)
        self.current.reasons.append(said)
        self._explained = event

    def explain_winners(self, event: MatchOver) -> None:
        """Add the places, and the sentence on the winners, to the step in progress."""
        self.current.reasons.append(f"{winners(event.places, self.names)}.")
        for seat, place in zip(self.current.seats, event.places, strict=True):
            seat.place, seat.won = place, place == 1


def marked(hand: Sequence[int], marks: Sequence[tuple[str, Sequence[int]]]) -> list[Card]:
    """Return a hand in order, with marks on some of its cards.

    A mark goes to the card of its rank that has the fewest marks. ``received`` adds a card, and a
    card that was given away takes no further mark.
    """
    cards: list[tuple[int, list[str]]] = [(rank, []) for rank in hand]
    for mark, ranks in marks:
        for rank in ranks:
            if mark == "received":
                cards.append((rank, [mark]))
                continue
            fitting = [on for card, on in cards if card == rank and not {"given", mark} & {*on}]
            min(fitting, key=len).append(mark)
    cards.sort(key=lambda card: card[0])
    return [Card(rank, tuple(on)) for rank, on in cards]
