"""Steps of a finished match, for people: a day of ``twelve-days``, a trick of ``partridge``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.record import Record


class Card(NamedTuple):
    """A card in a hand, and what became of it: given, received, played, scored."""

    rank: int
    marks: tuple[str, ...] = ()


@dataclass(slots=True)
class SeatStep:
    """What one seat did in a step.

    Attributes:
        seat: its number.
        name: of the bot.
        hand: when the step began, with what was received since; None where it is hidden.
        before: points before the step.
        points: points after it.
        played: cards on the table; empty for a pass, None where nothing is played.
        given: card given to the left neighbour.
        drawn: card drawn at the end of the day.
        order: how many played before it.
        leads: whether it led the trick.
        won: whether it won the day or trick.
        took_back: whether it got its last cards back.
        faults: kinds of fault; each time the referee moved instead.
        extra: what else there is to say.
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
    won: bool = False
    took_back: bool = False
    faults: list[str] = field(default_factory=list)
    extra: str = ""

    @property
    def change(self) -> int:
        """Points gained in this step."""
        return self.points - self.before


@dataclass(slots=True)
class Step:
    """What one page of a replay shows.

    Attributes:
        group: of steps that stand together: the round of ``partridge``.
        label: a word for it in the list of steps.
        title: of the step.
        note: what came of it.
        seats: in the order of seats.
        pot: the day cards at stake.
    """

    group: str
    label: str
    title: str
    note: str
    seats: list[SeatStep]
    pot: list[int] = field(default_factory=list)

    @property
    def table(self) -> list[SeatStep]:
        """The seats that have acted, in the order they did."""
        acted = [seat for seat in self.seats if seat.played is not None]
        return sorted(acted, key=lambda seat: seat.order)

    @property
    def has_faults(self) -> bool:
        """Whether the referee had to move for somebody."""
        return any(seat.faults for seat in self.seats)


def steps(record: Record, names: Sequence[str]) -> list[Step]:
    """Return the steps of a match, from a record that verifies; the last shows the end.

    Args:
        record: of the match.
        names: of the bots, by seat.
    """
    state = record.start()
    if isinstance(state, TwelveDays):
        return [*_days(state, record, names)]
    assert isinstance(state, Partridge)
    return [*_tricks(state, record, names)]


def _plies(state: State, record: Record) -> Iterator[tuple[int, str, str | None]]:
    """Play a record's moves one by one; yield after each its seat, text, and fault or None."""
    faults = {fault.ply: fault.kind for fault in record.faults}
    for ply, (seat, text) in enumerate(record.moves):
        state.step_unchecked({seat: state.moves.ids[text]})
        yield seat, text, faults.get(ply)


def _seats(
    state: State, names: Sequence[str], points: Sequence[int]
) -> tuple[list[SeatStep], list[list[int]]]:
    hands = [state.observe(seat)["hand"] for seat in range(state.seats)]
    seats = [
        SeatStep(seat, name, [Card(rank) for rank in hands[seat]], points[seat], points[seat])
        for seat, name in enumerate(names)
    ]
    return seats, hands


def _marked(hand: Sequence[int], marks: Sequence[tuple[str, Sequence[int]]]) -> list[Card]:
    """Return a hand with a mark put on each of some cards, on unmarked ones first."""
    told: list[tuple[int, list[str]]] = [(rank, []) for rank in hand]
    for mark, ranks in marks:
        for rank in ranks:
            if mark == "received":
                told.append((rank, [mark]))
                continue
            fitting = [on for card, on in told if card == rank and not {"given", mark} & {*on}]
            min(fitting, key=len).append(mark)
    told.sort(key=lambda card: card[0])
    return [Card(rank, tuple(on)) for rank, on in told]


# -- twelve-days -----------------------------------------------------------------------------


def _days(state: TwelveDays, record: Record, names: Sequence[str]) -> Iterator[Step]:
    points = [0] * state.seats
    seats, hands = _seats(state, names, points)
    past = state.past
    for seat, _, fault in _plies(state, record):
        if fault:
            seats[seat].faults.append(fault)
        if state.past is past:
            continue
        past = state.past
        day = state.history[-1]
        if day.to is not None:
            points[day.to] += sum(day.pot)
        for told in seats:
            number = told.seat
            told.given, told.drawn = day.gives[number], day.draws[number]
            told.played, told.order = [day.plays[number]], number
            received = [rank for rank in (day.gives[number - 1],) if rank is not None]
            given = [rank for rank in (told.given,) if rank is not None]
            marks = [("given", given), ("received", received), ("played", told.played)]
            told.hand = _marked(hands[number], marks)
            told.points, told.won = points[number], day.winner == number
        title = f"Day {day.day} of {state.rules.days}"
        note = day_note(day.pot, day.winner, day.to, names, day.day == state.rules.days)
        yield Step("Days", str(day.day), title, note, seats, list(day.pot))
        seats, hands = _seats(state, names, points)
    yield _counting(record, seats, hands)


def day_note(
    pot: Sequence[int], winner: int | None, to: int | None, names: Sequence[str], last: bool
) -> str:
    """Return what came of a day, in a sentence."""
    total = f"{sum(pot)} point{'s' if sum(pot) > 1 else ''}"
    if winner is None or to is None:
        left = "go to nobody" if last else "stay in the pot for the next day"
        return f"No rank was played by exactly one seat: the {total} at stake {left}."
    if to != winner:
        return f"{names[winner]} wins the day with a Claus and awards {total} to {names[to]}."
    return f"{names[winner]} played the lowest rank that nobody else did and wins {total}."


def _counting(record: Record, seats: list[SeatStep], hands: list[list[int]]) -> Step:
    """The end: who holds the most cards of a rank scores it."""
    most = {rank: max(hand.count(rank) for hand in hands) for rank in range(1, 13)}
    for told, hand in zip(seats, hands, strict=True):
        scored = {rank for rank in hand if rank and hand.count(rank) == most[rank]}
        told.hand = [Card(rank, ("scored",) if rank in scored else ()) for rank in hand]
        told.points = record.scores[told.seat]
        told.won = record.places[told.seat] == 1
        ranks = ", ".join(map(str, sorted(scored)))
        told.extra = f"{sum(scored)} for the most of {ranks}" if scored else "most of no rank"
    note = f"Whoever holds the most cards of a rank scores it. {_winners(record, seats)}"
    return Step("End", "End", "The end: hands are counted", note, seats)


# -- partridge -------------------------------------------------------------------------------


def _tricks(state: Partridge, record: Record, names: Sequence[str]) -> Iterator[Step]:
    number, round_, order = 1, 1, 0
    gifts = list(state.gifts)
    seats, hands = _seats(state, names, gifts)
    for seat, text, fault in _plies(state, record):
        told = seats[seat]
        told.played = [int(part) for part in text.split()[1:]]
        told.hand = _marked(hands[seat], [("played", told.played)])
        told.order, told.leads = order, order == 0
        order += 1
        if fault:
            told.faults.append(fault)
        if state.phase == "follow":
            continue
        winner = state.leader
        round_over = len(state.rounds_won) == round_
        gifts = list(state.gifts)
        for told in seats:
            told.won = told.seat == winner
            told.points = gifts[told.seat]
            last = bool(told.played) and len(told.played or ()) == len(hands[told.seat])
            told.took_back = last and not told.won
        title = f"Round {round_} of {state.rules.rounds}, trick {number}"
        note = _trick_note(names[winner], seats, round_over)
        yield Step(f"Round {round_}", str(number), title, note, seats)
        order = 0
        number = 1 if round_over else number + 1
        round_ += round_over and not state.is_over
        seats, hands = _seats(state, names, gifts)
    for told in seats:
        told.won = record.places[told.seat] == 1
    yield Step("End", "End", "The end", _winners(record, seats), seats)


def _trick_note(winner: str, seats: Sequence[SeatStep], round_over: bool) -> str:
    if not round_over:
        back = [seat.name for seat in seats if seat.took_back]
        told = f" The last cards of {' and '.join(back)} did not win and go back." if back else ""
        return f"{winner} wins the trick and leads the next.{told}"
    givers = [seat.name for seat in seats if seat.change < 0]
    gift = f", and one from {' and '.join(givers)}, left with the most cards" if givers else ""
    return f"{winner} is out of cards and wins the round: a gift from the pool{gift}."


def _winners(record: Record, seats: Sequence[SeatStep]) -> str:
    best = [seat.name for seat in seats if record.places[seat.seat] == 1]
    return f"{' and '.join(best)} {'wins' if len(best) == 1 else 'share the win of'} the match."
