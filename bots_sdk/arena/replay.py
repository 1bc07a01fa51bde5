"""A match step by step as text: the hands, then each event with the reason of each result."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bots_sdk.invoking import typed
from engine.games import events as happened
from engine.games.game import State
from engine.games.titles import unit_of
from engine.playback import play_back, steps_of
from engine.rating.results import places_of
from engine.record import Record
from engine.sentences import begin_a_match, sentence

_HEADINGS = (
    *(happened.MatchStarted, happened.DayStarted, happened.RoundDealt),
    happened.MatchOver,
)
_PLAYS = (happened.CardsLed, happened.CardsFollowed, happened.SeatPassed)
_OUTCOMES = (
    *(happened.DayWon, happened.PotAwarded, happened.DayCarried, happened.PotLost),
    *(happened.TrickWon, happened.CardsReturned, happened.RoundWon),
    *(happened.GiftMoved, happened.GiftMissing),
)
_PHASES = {
    "give": "each seat gives a card to its left neighbour",
    "play": "each seat plays a card",
    "award": "the winner gives the pot to another seat",
    "lead": "the leader starts a trick",
    "follow": "the next seat plays or passes",
    "over": "the match is over",
}
_HOLDINGS = {
    "twelve-days": "- day cards: the cards that the seat has won. Each counts its number.",
    "partridge": "- gifts: the points that the seat has now.",
}


def frames(
    record: Record, title: str, own: int, reasons: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Yield the steps of a match: a legend and the deal, each phase after the hands, the result.

    Args:
        record: the record of the match; `engine.record.verify` accepts it.
        title: the title of each step.
        own: the seat with a star.
        reasons: the reason of each fault by ply; a fault without one shows its kind.
    """
    faults = {fault.ply: fault.kind for fault in record.faults} | dict(reasons or {})
    names = record.players or tuple(f"seat {seat}" for seat in range(record.seats))
    head = f"{record.game} {record.rules}, {title}"
    distinct = _distinct(names)
    hands: list[str] = [*_legend(record, distinct, own), ""]
    when = [name for _, name in steps_of(record)]
    ply = 0
    for phase in play_back(record):
        begins = begin_a_match(phase.events)
        events = [sentence(event, distinct, at_start=begins) for event in phase.events]
        notes = [
            f"fault of {distinct[record.moves[at][0]]}, {faults[at]}"
            for at in range(ply, phase.ply)
            if at in faults
        ]
        yield "\n".join([head, *hands, *events, *notes])
        ply = phase.ply
        hands = [*lines(phase.state, distinct, own, "".join(when[ply : ply + 1])), ""]
    results = [
        f"{'*' if seat == own else ' '} {seat}  {name:24} {score:3} "
        f"{unit_of(record.game, score)}, place {place}"
        for seat, (name, score, place) in enumerate(
            zip(names, record.scores, places_of(record), strict=True)
        )
    ]
    yield "\n".join([head, *hands, *results])


def outcomes(record: Record) -> Iterator[str]:
    """Yield the result of each day, trick, round and gift with its reason, a line for each.

    Args:
        record: the record of the match; `engine.record.verify` accepts it.
    """
    when = [name for _, name in steps_of(record)]
    trick: list[str] = []
    of_days = [0] * record.seats
    for phase in play_back(record):
        for kind in (happened.CardGiven, happened.CardPlayed):
            moved = [event for event in phase.events if isinstance(event, kind)]
            if moved:
                yield f"  {', '.join(sentence(event, record.players) for event in moved)}"
        for event in phase.events:
            if isinstance(event, happened.DayWon | happened.PotAwarded) and event.to is not None:
                of_days[event.to] += event.points
            if isinstance(event, happened.HandCounted):
                days = of_days[event.seat]
                text = sentence(event, record.players)
                yield f"{text}; {days} for days, {event.points + days} in all"
            elif isinstance(event, _HEADINGS):
                yield sentence(event, record.players)
            elif isinstance(event, _PLAYS):
                trick.append(sentence(event, record.players))
            elif isinstance(event, happened.TrickWon):
                number = when[phase.ply - 1].rpartition(", ")[2]
                yield f"  {number}: {', '.join(trick)}"
                yield f"    {sentence(event, record.players)}"
                trick = []
            elif isinstance(event, _OUTCOMES):
                begins = begin_a_match(phase.events)
                yield f"  {sentence(event, record.players, at_start=begins)}"


def lines(
    state: State, names: Sequence[str], own: int | None = None, when: str = ""
) -> Iterator[str]:
    """Yield the state of a match, with a line for each seat; the seat ``own`` has a star.

    Args:
        state: the state.
        names: of the players, by seat.
        own: the seat with a star.
        when: the name of the step; default: the day or the round of the state.
    """
    public = state.spectate()
    yield _about(public, names, when)
    yield ""
    have = "day_cards" if "day_cards" in public else "gifts"
    title = have.replace("_", " ")
    hand = "hand at the end" if public["phase"] == "over" else "hand before this step"
    yield f"  seat  {'bot':24} {title:16} {hand}"
    for seat, name in enumerate(names):
        hand = " ".join(map(str, state.observe(seat)["hand"]))
        held = public[have][seat]
        cards = " ".join(map(str, held)) if isinstance(held, list) else str(held)
        star = "*" if seat == own else " "
        yield f"{star} {seat:4}  {name:24} {cards:16} {hand}".rstrip()


def _legend(record: Record, names: Sequence[str], own: int) -> Iterator[str]:
    """Yield the meaning of a step's parts, for readers who see a match for the first time."""
    yield "Each step first shows the seats before the step. Below them are its moves and their"
    yield "results."
    if own >= 0:
        yield f"- * marks the row of {names[own]}."
    yield _HOLDINGS[record.game]
    yield "- hand: the numbers on the cards that the seat holds."
    yield typed(f"The rules: `twelfth-night rules {record.game}`.")


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names; a name that several seats have gets the seat."""
    return [
        f"{name} (seat {seat})" if names.count(name) > 1 else name
        for seat, name in enumerate(names)
    ]


def _about(public: Mapping[str, Any], names: Sequence[str], when: str) -> str:
    """Return a line with the phase of a match."""
    phase = _PHASES[public["phase"]]
    if "day" in public:
        pot = public["pot"]
        line = f"day {public['day']}: {phase}"
        if pot:
            points = f"{sum(pot)} point{'' if sum(pot) == 1 else 's'}"
            line += f"; pot: day card{'' if len(pot) == 1 else 's'} {_cards(pot)}, {points}"
        if public["plays"] is not None:
            line += f"; played, by seat: {_cards(public['plays'])}"
        return line
    when = when or f"round {public['round']} of {public['rounds']}"
    line = f"{when}: {phase}"
    for number, action in enumerate(public["trick"]):
        did = f"{'played' if number else 'led'} {_cards(action['cards'])}"
        line += f"; {names[action['seat']]} {did if action['cards'] else 'passed'}"
    return line


def _cards(ranks: list[int]) -> str:
    return " ".join(map(str, ranks))
