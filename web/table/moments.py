"""The decisive moment of a match as a small picture: who played what, and what it brought."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from django.core.cache import caches

from engine.games.twelve_days import TwelveDays
from engine.record import Record
from league.feeds.moments import deciding_step, last_step
from league.models import Match
from league.play.headlines import seat_names
from web.table.replays import replay_steps
from web.table.steps import SeatStep, Step

_SEATS = 4
"""So many seats fit into the picture."""
_CARDS = 2
"""So many cards of a seat fit into the picture, whole and side by side."""
_SENTENCES = 2
_CLAUS = 0


class MomentCard(NamedTuple):
    """A card of the picture, with its mark: ``wins``, ``cancelled``, ``scored`` or none."""

    rank: int
    mark: str


class MomentSeat(NamedTuple):
    """A seat of the picture.

    Attributes:
        name: of the player.
        points: after the step.
        change: gained in the step.
        won: whether it won the day, the trick or the match.
        cards: as far as they fit.
        more: number of further cards.
        passes: whether it passed.
    """

    name: str
    points: int
    change: int
    won: bool
    cards: list[MomentCard]
    more: int
    passes: bool


class Moment(NamedTuple):
    """A step of a finished match as a picture.

    Attributes:
        number: of the step, from 1.
        title: of the step, such as "Day 9 of 12".
        caption: what happened in it, and why.
        seats: those that matter most, in the order of seats.
        others: number of further seats.
    """

    number: int
    title: str
    caption: str
    seats: list[MomentSeat]
    others: int

    @property
    def words(self) -> str:
        """The picture in words, for people who do not see it."""
        return "; ".join(_words(seat) for seat in self.seats)


def moment_of(match: Match, number: int | None = None, about: Sequence[int] = ()) -> Moment:
    """Return a moment of a finished match that everybody may see.

    Each process keeps the moments that it has worked out: a record never changes.

    Args:
        match: with its seating and their bots.
        number: of the step, from 1; the nearest one if there is no such step. None: the step in
            which the winner took the lead, or the last one of a tie.
        about: seats that the picture shows before others.
    """
    names = seat_names(match)
    key = f"{match.pk}/{number}/{','.join(map(str, about))}/{'/'.join(names)}"
    kept: Moment | None = caches["moments"].get(key)
    if kept is None:
        record = match.record
        steps = replay_steps(record, names)
        at = min(
            max(_deciding_or_last_step(match, record) if number is None else number, 1), len(steps)
        )
        kept = picture_of_step(steps[at - 1], at, match.game, about)
        caches["moments"].set(key, kept)
    return kept


def _deciding_or_last_step(match: Match, record: Record) -> int:
    winners = [seat.seat for seat in match.seating.all() if seat.place == 1]
    return deciding_step(record, winners[0]) if len(winners) == 1 else last_step(record)


def picture_of_step(step: Step, number: int, game: str, about: Sequence[int] = ()) -> Moment:
    """Return a step of a match as a picture.

    Args:
        step: of a match whose cards everybody may see.
        number: of the step, from 1.
        game: by name.
        about: seats that the picture shows before others.
    """
    most = [
        seat.seat
        for seat in sorted(
            step.seats,
            key=lambda seat: (not seat.won, seat.seat not in about, -seat.points, seat.seat),
        )
    ]
    shown = [seat for seat in step.seats if seat.seat in most[:_SEATS]]
    played = Counter(rank for seat in step.seats for rank in seat.played or ())
    cancels = game == TwelveDays.game
    return Moment(
        number,
        step.title,
        _of_the_winner(step) if step.group == "End" else " ".join(step.reasons[:_SENTENCES]),
        [_seat(seat, played if cancels else Counter()) for seat in shown],
        len(step.seats) - len(shown),
    )


def _of_the_winner(step: Step) -> str:
    """Return how the hand of the winner counts at the end; without one, the last reason."""
    winners = [seat.name for seat in step.seats if seat.won]
    counts = (each for name in winners for each in step.reasons if each.startswith(f"{name}: "))
    return next(counts, step.reasons[-1] if step.reasons else "")


def _seat(seat: SeatStep, played: Counter[int]) -> MomentSeat:
    """Return a seat of the picture.

    Args:
        seat: in the step.
        played: the number of cards of each rank, if equal cards cancel each other.
    """
    if seat.played is None:  # the end: the cards that score
        scored = [card.rank for card in seat.hand or () if "scored" in card.marks]
        cards = [MomentCard(rank, "scored") for rank in dict.fromkeys(reversed(scored))]
    else:
        cards = [
            MomentCard(rank, "cancelled" if played[rank] > 1 else "wins" if seat.won else "")
            for rank in seat.played
        ]
    return MomentSeat(
        seat.name,
        seat.points,
        seat.change,
        seat.won,
        cards[:_CARDS],
        max(0, len(cards) - _CARDS),
        seat.passes,
    )


def _words(seat: MomentSeat) -> str:
    if seat.passes:
        return f"{seat.name} passes"
    if not seat.cards:
        return f"{seat.name} has {seat.points}"
    cards = " ".join("Claus" if card.rank == _CLAUS else str(card.rank) for card in seat.cards)
    does = "scores" if seat.cards[0].mark == "scored" else "plays"
    wins = ", and wins" if seat.won else ""
    cancelled = ", cancelled" if seat.cards[0].mark == "cancelled" else ""
    return f"{seat.name} {does} {cards}{cancelled}{wins}"
