"""A match step by step as text: the hand and the move of each seat."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.games.game import State
from engine.record import Record


def frames(
    record: Record, title: str, own: int, reasons: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Yield the steps of a match: each phase with all hands and moves, then the result.

    Args:
        record: the record of the match.
        title: the title of each step.
        own: the seat with a star.
        reasons: the reason of each fault by ply; a fault without one shows its kind.
    """
    state = record.start()
    moves = iter(enumerate(record.moves))
    faults = {fault.ply: fault.kind for fault in record.faults} | dict(reasons or {})
    names = record.players or tuple(f"seat {seat}" for seat in range(record.seats))
    head = f"{record.game} {record.rules}, {title}"
    while state.actors:
        doing: dict[int, str] = {}
        actions = {}
        notes = []
        for seat in state.actors:
            ply, (_, text) = next(moves)
            doing[seat] = text
            actions[seat] = state.moves.ids[text]
            if ply in faults:
                notes.append(f"ply {ply}: fault of {names[seat]}, {faults[ply]}")
        yield "\n".join([head, *lines(state, names, own, doing), *notes])
        state.step_unchecked(actions)
    results = [
        f"{'*' if seat == own else ' '} {seat}  {name:24} {score:3} points, place {place}"
        for seat, (name, score, place) in enumerate(
            zip(names, record.scores, record.places, strict=True)
        )
    ]
    yield "\n".join([head, *lines(state, names, own, {}), "", *results])


def lines(state: State, names: tuple[str, ...], own: int, doing: dict[int, str]) -> Iterator[str]:
    """Yield the state of a match, with a line for each seat."""
    public = state.spectate()
    yield _about(public)
    yield ""
    have = "day_cards" if "day_cards" in public else "gifts"
    title = have.replace("_", " ")
    yield f"  seat  {'bot':24} {title:16} {'hand':38} move"
    for seat, name in enumerate(names):
        hand = " ".join(map(str, state.observe(seat)["hand"]))
        held = public[have][seat]
        cards = " ".join(map(str, held)) if isinstance(held, list) else str(held)
        star = "*" if seat == own else " "
        yield f"{star} {seat:4}  {name:24} {cards:16} {hand:38} {doing.get(seat, '')}".rstrip()


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
