"""What happens in a match, as small frozen values: a card given, a trick won, a gift moved.

`State.step` returns events; records, pages, streams and texts format them, so that no consumer
works the rules out again. `Event.seen_by` alone decides what a seat or the public may see of an
event. `engine.sentences` writes events as sentences, and ``docs/engine.md`` lists all kinds.

In every event ``seat`` is the seat that acts, draws or wins, and ``to`` is the seat that receives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from engine.errors import listed, quote

Cards = tuple[int, ...]
"""Ranks: of a hand ascending, of a combination descending."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: stable name of the event, as in its JSON form.
        secrets: fields that only the seats in `witnesses` see; null for everybody else.
    """

    kind: ClassVar[str]
    secrets: ClassVar[tuple[str, ...]] = ()

    def witnesses(self) -> tuple[int, ...]:
        """Return the seats that see the secret fields during the match."""
        return ()

    def seen_by(self, seat: int | None) -> Self:
        """Return the event as a seat, or with None the public, may see it during the match."""
        if not self.secrets or seat in self.witnesses():
            return self
        return replace(self, **dict.fromkeys(self.secrets))

    def as_json(self) -> dict[str, Any]:
        """Return the event as a JSON object: ``kind``, then the fields in their order."""
        values = {field.name: _listed(getattr(self, field.name)) for field in fields(self)}
        return {"kind": self.kind, **values}


# -- Both games ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchStarted(Event):
    """The seats sit down; the deal follows."""

    kind = "match_started"
    game: str
    rules: str
    seats: int


@dataclass(frozen=True, slots=True)
class HandDealt(Event):
    """A seat received its hand; only that seat sees the cards."""

    kind = "hand_dealt"
    secrets = ("cards",)
    seat: int
    hand_size: int
    cards: Cards | None

    def witnesses(self) -> tuple[int, ...]:
        """Return the seat."""
        return (self.seat,)


@dataclass(frozen=True, slots=True)
class HandShown(Event):
    """The match is over, so everybody sees the hand that a seat still holds."""

    kind = "hand_shown"
    seat: int
    cards: Cards


@dataclass(frozen=True, slots=True)
class MatchOver(Event):
    """The last event: final scores and places, by seat."""

    kind = "match_over"
    scores: tuple[int, ...]
    places: tuple[int, ...]


# -- twelve-days ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DayStarted(Event):
    """A day card joined the pot: ``pot`` lists the day cards at stake, ``points`` is their sum."""

    kind = "day_started"
    day: int
    pot: Cards
    points: int


@dataclass(frozen=True, slots=True)
class CardGiven(Event):
    """A card moved to the left neighbour; giver and receiver see which."""

    kind = "card_given"
    secrets = ("rank",)
    seat: int
    to: int
    rank: int | None

    def witnesses(self) -> tuple[int, ...]:
        """Return giver and receiver."""
        return (self.seat, self.to)


@dataclass(frozen=True, slots=True)
class CardPlayed(Event):
    """A seat's play of the day."""

    kind = "card_played"
    seat: int
    rank: int


@dataclass(frozen=True, slots=True)
class DayWon(Event):
    """A seat played the lowest rank that no other seat played.

    Attributes:
        rank: the winning rank.
        cancelled: ranks that several seats played, ascending, each as often as it was played.
        to: the seat that receives the pot; None if the winner must award it first.
    """

    kind = "day_won"
    day: int
    seat: int
    rank: int
    cancelled: Cards
    pot: Cards
    points: int
    to: int | None


@dataclass(frozen=True, slots=True)
class PotAwarded(Event):
    """The winner of the day awarded the whole pot to another seat."""

    kind = "pot_awarded"
    day: int
    seat: int
    to: int
    pot: Cards
    points: int


@dataclass(frozen=True, slots=True)
class DayCarried(Event):
    """Every rank played cancelled out, so the pot carries over to the next day."""

    kind = "day_carried"
    day: int
    cancelled: Cards
    pot: Cards
    points: int


@dataclass(frozen=True, slots=True)
class PotLost(Event):
    """Every rank played on the last day cancelled out, so the pot goes to no one."""

    kind = "pot_lost"
    day: int
    cancelled: Cards
    pot: Cards
    points: int


@dataclass(frozen=True, slots=True)
class CardDrawn(Event):
    """A seat drew the front card of the deck; only that seat sees which."""

    kind = "card_drawn"
    secrets = ("rank",)
    seat: int
    rank: int | None

    def witnesses(self) -> tuple[int, ...]:
        """Return the seat."""
        return (self.seat,)


@dataclass(frozen=True, slots=True)
class DiscardsReshuffled(Event):
    """A draw found the deck empty; all discards were shuffled into a deck of so many cards."""

    kind = "discards_reshuffled"
    cards: int


@dataclass(frozen=True, slots=True)
class RankScored(Event):
    """At the end, the seats that hold the most cards of a rank each score its points.

    Attributes:
        seats: those that score, ascending.
        count: cards of the rank that each of them holds.
        points: for each of them.
    """

    kind = "rank_scored"
    rank: int
    seats: tuple[int, ...]
    count: int
    points: int


@dataclass(frozen=True, slots=True)
class HandCounted(Event):
    """At the end, what the hand of a seat scores: the sum of its ranks in `RankScored`.

    Attributes:
        most: ranks of which it alone holds the most cards, descending.
        tied: ranks of which it holds the most cards together with other seats, descending.
        points: the sum of these ranks.
    """

    kind = "hand_counted"
    seat: int
    most: Cards
    tied: Cards
    points: int


# -- partridge -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoundDealt(Event):
    """All cards were shuffled for a round (from 1); the dealt hands follow."""

    kind = "round_dealt"
    round: int
    leader: int


@dataclass(frozen=True, slots=True)
class CardsLed(Event):
    """A seat led a trick.

    Attributes:
        combination: ``single``, ``set`` or ``straight``.
        low: the lead low, the lowest card led.
    """

    kind = "cards_led"
    seat: int
    cards: Cards
    combination: str
    low: int


@dataclass(frozen=True, slots=True)
class CardsFollowed(Event):
    """A seat answered the lead in kind; ``low`` is the lowest card of the answer."""

    kind = "cards_followed"
    seat: int
    cards: Cards
    low: int


@dataclass(frozen=True, slots=True)
class SeatPassed(Event):
    """A seat passed; ``forced`` if it could not play, which only that seat sees."""

    kind = "seat_passed"
    secrets = ("forced",)
    seat: int
    forced: bool | None

    def witnesses(self) -> tuple[int, ...]:
        """Return the seat."""
        return (self.seat,)


@dataclass(frozen=True, slots=True)
class TrickWon(Event):
    """A seat played the lowest card of the trick, last among those that tied for it.

    Attributes:
        low: the lowest card.
        tied: other seats that played the same lowest card, in the order that they acted.
    """

    kind = "trick_won"
    seat: int
    low: int
    tied: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CardsReturned(Event):
    """A seat played its last cards without winning the trick, and took them back."""

    kind = "cards_returned"
    seat: int
    cards: Cards


@dataclass(frozen=True, slots=True)
class RoundWon(Event):
    """A seat won a trick with its last cards, and so the round; its gifts follow."""

    kind = "round_won"
    round: int
    seat: int


@dataclass(frozen=True, slots=True)
class GiftMoved(Event):
    """A gift went to a seat.

    Attributes:
        giver: the seat that gave it; None for a gift from the pool.
        hand_size: cards that the giver holds, the most of all seats; None for the pool.
    """

    kind = "gift_moved"
    giver: int | None
    to: int
    hand_size: int | None


@dataclass(frozen=True, slots=True)
class GiftMissing(Event):
    """A seat that holds the most cards had no gift to give; ``to`` won the round."""

    kind = "gift_missing"
    seat: int
    to: int
    hand_size: int


def hands_counted(scored: Sequence[Event], seats: int) -> list[Event]:
    """Return what each hand scores, from the events that include all `RankScored` of a match."""
    ranks = [event for event in reversed(scored) if isinstance(event, RankScored)]
    counted: list[Event] = []
    for seat in range(seats):
        most = tuple([event.rank for event in ranks if event.seats == (seat,)])
        tied = tuple([e.rank for e in ranks if seat in e.seats and e.rank not in most])
        counted.append(HandCounted(seat, most, tied, sum(most + tied)))
    return counted


# -- From JSON -----------------------------------------------------------------------------

KINDS: Mapping[str, type[Event]] = {
    event.kind: event
    for event in (
        *(MatchStarted, HandDealt, HandShown, MatchOver),
        *(DayStarted, CardGiven, CardPlayed, DayWon, PotAwarded, DayCarried, PotLost),
        *(CardDrawn, DiscardsReshuffled, RankScored, HandCounted),
        *(RoundDealt, CardsLed, CardsFollowed, SeatPassed, TrickWon, CardsReturned),
        *(RoundWon, GiftMoved, GiftMissing),
    )
}
"""Every class of events by its kind."""


def from_json(document: Mapping[str, Any]) -> Event:
    """Return the event with this JSON form.

    Raises:
        ValueError: the kind is unknown, or the fields are not those of the kind.
    """
    values = {name: _tupled(value) for name, value in document.items() if name != "kind"}
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"unknown kind of event {quote(kind)}; known: {listed([*KINDS], 40)}")
    try:
        return KINDS[kind](**values)
    except TypeError as error:
        raise ValueError(f"not an event of kind {kind}: {quote(error, 200)}") from None


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
