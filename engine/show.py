"""A match as text for a terminal: one line a day or a trick, and the reason of each result."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from engine.deals import commitment
from engine.games import events
from engine.games.events import Event
from engine.games.titles import unit_of
from engine.playback import play_back
from engine.record import Record, verify
from engine.sentences import cards, sentence

_Kind = TypeVar("_Kind", bound=Event)


def render(record: Record) -> Iterator[str]:
    """Yield the lines of a match.

    Raises:
        RecordError: the record does not verify.
    """
    verify(record)
    players = record.players or tuple(f"seat {seat}" for seat in range(record.seats))
    yield f"{record.game}, {record.rules}, {record.seats} seats"
    yield f"deal seed {record.deal_seed.hex()}, commitment {commitment(record.deal_seed)}"
    for seat, name in enumerate(players):
        yield f"seat {seat}: {ascii(name)[1:-1]}"
    yield ""
    rows = _days if record.game == "twelve-days" else _tricks
    yield from rows((phase.events for phase in play_back(record)), record.seats)
    if record.faults:
        yield ""
    for fault in record.faults:
        move = record.moves[fault.ply][1]
        yield f"ply {fault.ply}: {fault.kind} of seat {fault.seat}, the referee played {move!r}"
    yield ""
    for seat, (score, place) in enumerate(zip(record.scores, record.places, strict=True)):
        unit = unit_of(record.game, score)
        yield f"seat {seat}: {score:3} {unit}, place {place}  {ascii(players[seat])[1:-1]}"


def _days(phases: Iterable[tuple[Event, ...]], seats: int) -> Iterator[str]:
    """Yield a line a day; gives, plays and draws are by seat, the winning card has a star."""
    width = 3 * seats
    yield f"day  pot  {'gives':{width}}   {'plays':{width}}    {'draws':{width}}  result"
    gives = plays = result = stake = ""
    for phase in phases:
        if given := _only(phase, events.CardGiven):
            gives = _row(event.rank for event in given)
        if played := _only(phase, events.CardPlayed):
            winners = [event.seat for event in _only(phase, events.DayWon)]
            stars = ["*" if event.seat in winners else " " for event in played]
            pairs = zip(played, stars, strict=True)
            plays = "".join(f"{event.rank:2}{star}" for event, star in pairs)
            result = ""
        for event in phase:
            if isinstance(event, events.DayWon | events.DayCarried | events.PotLost):
                result = sentence(event)
            elif isinstance(event, events.PotAwarded):
                result += f"; {sentence(event)}"
        if drawn := _only(phase, events.CardDrawn):
            draws = _row(event.rank for event in drawn)
            yield f"{stake}  {gives}   {plays}    {draws}  {result}"
        for day in _only(phase, events.DayStarted):
            stake = f"{day.day:3}  {day.points:3}"
    yield ""
    for event in phase:
        if isinstance(event, events.HandShown | events.RankScored | events.HandCounted):
            yield sentence(event)


def _row(ranks: Iterable[int | None]) -> str:
    return "".join(f"{'?' if rank is None else rank:>2} " for rank in ranks)


def _tricks(phases: Iterable[tuple[Event, ...]], seats: int) -> Iterator[str]:
    """Yield a line a trick, the leader first; a star marks the winner, a plus cards taken back."""
    gifts = [0] * seats
    plays: dict[int, str] = {}
    number = 0
    for phase in phases:
        for gift in _only(phase, events.GiftMoved):
            gifts[gift.to] += 1
            if gift.giver is not None:
                gifts[gift.giver] -= 1
        for event in phase:
            if isinstance(event, events.CardsLed | events.CardsFollowed):
                plays[event.seat] = cards(event.cards)
            elif isinstance(event, events.SeatPassed):
                plays[event.seat] = "pass"
            elif isinstance(event, events.TrickWon):
                plays[event.seat] += "*"
                for back in _only(phase, events.CardsReturned):
                    plays[back.seat] += "+"
                number += 1
                row = " | ".join(f"{seat}: {text}" for seat, text in plays.items())
                yield f"  {number:3}. {row}"
                plays = {}
            elif isinstance(event, events.RoundWon):
                yield f"  {sentence(event)}"
                kinds = (events.GiftMoved, events.GiftMissing)
                yield from (f"  {sentence(gift)}" for gift in phase if isinstance(gift, kinds))
                yield f"  gifts are now {cards(gifts)}"
            elif isinstance(event, events.RoundDealt):
                number = 0
                yield sentence(event)
            elif isinstance(event, events.HandDealt):
                yield f"  {sentence(event)}"


def _only(phase: tuple[Event, ...], kind: type[_Kind]) -> list[_Kind]:
    return [event for event in phase if isinstance(event, kind)]
