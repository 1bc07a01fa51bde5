"""A match step by step as text: the hands, then each event with the reason of each result."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.games import events as happened
from engine.games.game import State
from engine.playback import play_back
from engine.record import Record
from engine.sentences import sentence

_HEADINGS = (
    *(happened.MatchStarted, happened.DayStarted, happened.RoundDealt),
    *(happened.RankScored, happened.HandCounted, happened.MatchOver),
)
_OUTCOMES = (
    *(happened.DayWon, happened.PotAwarded, happened.DayCarried, happened.PotLost),
    *(happened.TrickWon, happened.CardsReturned, happened.RoundWon),
    *(happened.GiftMoved, happened.GiftMissing),
)


def frames(
    record: Record, title: str, own: int, reasons: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Yield the steps of a match: the deal, each phase with the hands before it, the result.

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
    hands: list[str] = []
    ply = 0
    for phase in play_back(record):
        events = [sentence(event, distinct) for event in phase.events]
        notes = [
            f"ply {at}: fault of {distinct[record.moves[at][0]]}, {faults[at]}"
            for at in range(ply, phase.ply)
            if at in faults
        ]
        yield "\n".join([head, *hands, *events, *notes])
        hands = [*lines(phase.state, names, own), ""]
        ply = phase.ply
    results = [
        f"{'*' if seat == own else ' '} {seat}  {name:24} {score:3} points, place {place}"
        for seat, (name, score, place) in enumerate(
            zip(names, record.scores, record.places, strict=True)
        )
    ]
    yield "\n".join([head, *hands, *results])


def outcomes(record: Record) -> Iterator[str]:
    """Yield the result of each day, trick, round and gift with its reason, a line for each.

    Args:
        record: the record of the match; `engine.record.verify` accepts it.
    """
    for phase in play_back(record):
        for event in phase.events:
            if isinstance(event, _HEADINGS):
                yield sentence(event, record.players)
            elif isinstance(event, _OUTCOMES):
                yield f"  {sentence(event, record.players)}"


def lines(state: State, names: Sequence[str], own: int | None = None) -> Iterator[str]:
    """Yield the state of a match, with a line for each seat; the seat ``own`` has a star."""
    public = state.spectate()
    yield _about(public)
    yield ""
    have = "day_cards" if "day_cards" in public else "gifts"
    title = have.replace("_", " ")
    yield f"  seat  {'bot':24} {title:16} hand"
    for seat, name in enumerate(names):
        hand = " ".join(map(str, state.observe(seat)["hand"]))
        held = public[have][seat]
        cards = " ".join(map(str, held)) if isinstance(held, list) else str(held)
        star = "*" if seat == own else " "
        yield f"{star} {seat:4}  {name:24} {cards:16} {hand}".rstrip()


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names; a name that several seats have gets the seat."""
    return [
        f"{name} (seat {seat})" if names.count(name) > 1 else name
        for seat, name in enumerate(names)
    ]


def _about(public: Mapping[str, Any]) -> str:
    """Return a line with the phase of a match."""
    if "day" in public:
        line = f"day {public['day']}, {public['phase']}; at stake {_cards(public['pot'])}"
        if public["plays"] is not None:
            line += f"; played {_cards(public['plays'])}"
        return line
    line = f"round {public['round']} of {public['rounds']}, {public['phase']}"
    for action in public["trick"]:
        line += f"; seat {action['seat']} {_cards(action['cards']) or 'passes'}"
    return line


def _cards(ranks: list[int]) -> str:
    return " ".join(map(str, ranks))
