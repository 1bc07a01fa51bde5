"""Events as plain English sentences, for pages, the command line and bot authors."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from engine.games import events as happened
from engine.games.events import Event
from engine.games.titles import counted, title

_NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")

_Who = Callable[[int], str]
"""Returns the name of the player at a seat."""


def begin_a_match(events: Iterable[Event]) -> bool:
    """Return whether events of one phase are those with which a match begins."""
    return any(isinstance(event, happened.MatchStarted) for event in events)


def sentence(event: Event, names: Sequence[str] | None = None, *, at_start: bool = False) -> str:
    """Return one event as a plain sentence, without a full stop: "ada plays 7".

    A secret that `Event.seen_by` took out is left out of the sentence: "ada draws a card".

    Args:
        event: the event.
        names: name of the player at each seat; "seat 0", "seat 1" and so on without names.
        at_start: whether the match begins with the event. The gifts of the start do not come from
            the pool.
    """

    def who(seat: int) -> str:
        return f"seat {seat}" if names is None else names[seat]

    if at_start and isinstance(event, happened.GiftMoved):
        return f"{who(event.to)} begins with a gift"
    return _of_both_games(event, who) or _of_twelve_days(event, who) or _of_partridge(event, who)


def as_sentence(
    event: Event, names: Sequence[str], *, at_start: bool = False, after: Event | None = None
) -> str:
    """Return an event as a sentence with a full stop and, unless a name begins it, a capital.

    Args:
        event: the event.
        names: name of the player at each seat.
        at_start: whether the match begins with the event.
        after: the event whose sentence stands before this one. Gifts of a round then need fewer
            words, because that sentence names the winner.
    """
    text = _further_gift(event, names, after) or sentence(event, names, at_start=at_start)
    begins_with_name = any(text.startswith(name) for name in names)
    return f"{text if begins_with_name else text[0].upper() + text[1:]}."


def in_sentences(events: Sequence[Event], names: Sequence[str]) -> list[str]:
    """Return a sentence for each event of one phase, shorter if the event before it allows that."""
    begins = begin_a_match(events)
    before = [None, *events]
    return [
        as_sentence(event, names, at_start=begins, after=after)
        for after, event in zip(before, events, strict=False)
    ]


def _further_gift(event: Event, names: Sequence[str], after: Event | None) -> str:
    """Return a short sentence for a gift if a won round or another gift came before; else ""."""
    match after, event:
        case happened.RoundWon(), happened.GiftMoved(giver=None):
            return "a gift comes from the pool"
        case happened.GiftMoved(giver=None), happened.GiftMoved(giver=giver, hand_size=size) if (
            giver is not None
        ):
            return f"{names[giver]} holds the most cards ({size}) and gives one too"
        case happened.GiftMoved(giver=before), happened.GiftMoved(giver=giver) if (
            before is not None and giver is not None
        ):
            return f"so does {names[giver]}"
    return ""


def winners(places: Sequence[int], names: Sequence[str]) -> str:
    """Return the winners of a match as a sentence, without a full stop: "ada wins the match".

    Args:
        places: of the seats, 1 for each winner.
        names: name of the player at each seat.
    """
    return _winners(places, names.__getitem__)


def move_in_words(text: str, names: Sequence[str]) -> str:
    """Return a move for readers, with names in place of numbers: "award the points to ada".

    Args:
        text: the move's text.
        names: name of the player at each seat.
    """
    verb, _, rest = text.partition(" ")
    if verb == "award":
        return f"award the points to {names[int(rest)]}"
    return f"{verb} {_card(0)}" if rest == "0" else text


def cards(ranks: Sequence[int]) -> str:
    """Return ranks as text, in the order given: "9 8 7"; "no cards" if there are none."""
    return " ".join(map(str, ranks)) or "no cards"


def _of_both_games(event: Event, who: _Who) -> str:
    match event:
        case happened.MatchStarted(game=game, rules=rules, seats=seats):
            return f"{seats} seats play {title(game, rules)}"
        case happened.HandDealt(seat=seat, cards=None, hand_size=size):
            return f"{who(seat)} is dealt {counted(size, 'card')}"
        case happened.HandDealt(seat=seat, cards=hand) if hand is not None:
            return f"{who(seat)} is dealt {cards(hand)}"
        case happened.HandShown(seat=seat, cards=hand):
            return f"{who(seat)} holds {cards(hand)} at the end"
        case happened.MatchOver(scores=scores, places=places):
            by_place = sorted(range(len(scores)), key=lambda seat: (places[seat], seat))
            totals = ", ".join(f"{who(seat)} {scores[seat]}" for seat in by_place)
            return f"{_winners(places, who)}; the final score is {totals}"
    return ""


def _of_twelve_days(event: Event, who: _Who) -> str:
    match event:
        case happened.DayStarted(day=day, points=points):
            verb = "is" if points == 1 else "are"
            return f"day {day} starts; {counted(points, 'point')} {verb} at stake"
        case happened.CardGiven(seat=seat, to=to, rank=rank):
            return f"{who(seat)} gives {_card(rank)} to {who(to)}"
        case happened.CardPlayed(seat=seat, rank=rank):
            return f"{who(seat)} plays {_card(rank)}"
        case happened.DayWon():
            return _day_won(event, who)
        case happened.PotAwarded(seat=seat, to=to, points=points):
            return f"{who(seat)} awards {counted(points, 'point')} to {who(to)}"
        case happened.DayCarried(day=day, cancelled=cancelled, points=points):
            verb = "carries" if points == 1 else "carry"
            stake = f"{counted(points, 'point')} {verb} over to day {day + 1}"
            return f"{_cancel(cancelled)}; no card is left, so {stake}"
        case happened.PotLost(cancelled=cancelled, points=points):
            verb = "goes" if points == 1 else "go"
            stake = f"{counted(points, 'point')} {verb} to no one"
            return f"{_cancel(cancelled)}; no card is left, so {stake}"
        case happened.CardDrawn(seat=seat, rank=rank):
            return f"{who(seat)} draws {_card(rank)}"
        case happened.DiscardsReshuffled(cards=count):
            return f"the deck is empty, so the {count} discards are shuffled into a new deck"
        case happened.RankScored(rank=rank, seats=seats, count=count, points=points):
            holders = _and([who(seat) for seat in seats])
            if len(seats) == 1:
                return f"{holders} holds the most {rank}s ({count}) and scores {points}"
            return f"{holders} hold the most {rank}s ({count} each) and score {points} each"
        case happened.HandCounted(seat=seat):
            return f"{who(seat)}: {_hand_counted(event)}"
    return ""


def _day_won(event: happened.DayWon, who: _Who) -> str:
    winner, points = who(event.seat), counted(event.points, "point")
    left = " left" if event.cancelled and event.cancelled[0] < event.rank else ""
    reason = (
        f"{event.rank} is the lowest{left}" if event.rank else "a Claus counts as 0, the lowest"
    )
    if event.cancelled:
        reason = f"{_cancel(event.cancelled)}; {reason}"
    if event.to is None:
        return f"{reason}, so {winner} wins the day and must award {points} to another seat"
    return f"{reason}, so {winner} wins {points}"


def _hand_counted(event: happened.HandCounted) -> str:
    """Return a hand as a sum: "12 for the most 12s, 6 for tied 6s = 18"."""
    parts = [f"{rank} for the most {rank}s" for rank in event.most]
    parts += [f"{rank} for tied {rank}s" for rank in event.tied]
    if not parts:
        return "0, as other seats hold more cards of every rank"
    return f"{', '.join(parts)} = {event.points}" if parts[1:] else parts[0]


def _of_partridge(event: Event, who: _Who) -> str:
    match event:
        case happened.RoundDealt(round=number, leader=leader):
            return f"round {number} is dealt; {who(leader)} leads"
        case happened.CardsLed(seat=seat, cards=led):
            return f"{who(seat)} leads {cards(led)}"
        case happened.CardsFollowed(seat=seat, cards=played):
            return f"{who(seat)} plays {cards(played)}"
        case happened.SeatPassed(seat=seat, forced=None):
            return f"{who(seat)} passes"
        case happened.SeatPassed(seat=seat, forced=forced):
            return f"{who(seat)} {'cannot play' if forced else 'passes by choice'}"
        case happened.TrickWon(seat=seat, low=low, tied=tied):
            if not tied:
                return f"{low} is the lowest card, so {who(seat)} wins the trick"
            everyone = _and([who(other) for other in (*tied, seat)])
            return f"{everyone} tie at {low}; {who(seat)} played last and wins the trick"
        case happened.CardsReturned(seat=seat, cards=returned):
            last, back = ("cards", "") if returned[1:] else ("card", "the ")
            back = f"takes {back}{cards(returned)} back"
            return f"{who(seat)} played its last {last} without winning and {back}"
        case happened.RoundWon(round=number, seat=seat):
            return f"{who(seat)} is out of cards and wins round {number}"
        case happened.GiftMoved(giver=None, to=to):
            return f"{who(to)} receives a gift from the pool"
        case happened.GiftMoved(giver=giver, to=to, hand_size=size) if giver is not None:
            return f"{who(giver)} holds the most cards ({size}) and gives {who(to)} a gift"
        case happened.GiftMissing(seat=seat, hand_size=size):
            return f"{who(seat)} holds the most cards ({size}) but has no gift to give"
    raise ValueError(f"no sentence for events of kind {event.kind}")


def _winners(places: Sequence[int], who: _Who) -> str:
    best = [who(seat) for seat, place in enumerate(places) if place == 1]
    return f"{_and(best)} {'wins the match' if len(best) == 1 else 'share first place'}"


def _card(rank: int | None) -> str:
    if rank is None:
        return "a card"
    return str(rank) if rank else "a Claus"


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _cancel(ranks: Sequence[int]) -> str:
    """Return which plays cancel: "two 3s cancel each other, and so do three 7s"."""
    same = [(rank, sum(1 for _ in group)) for rank, group in groupby(ranks)]
    first, *others = [
        f"{_NUMERALS[count]} {f'{rank}s' if rank else 'Claus cards'}" for rank, count in same
    ]
    so_do = f", and so do {_and(others)}" if others else ""
    return f"{first} cancel each other{so_do}"
