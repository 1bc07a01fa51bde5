"""Steps of a finished match, for people: a day of ``twelve-days``, a trick of ``partridge``."""

from dataclasses import dataclass
from typing import Any

from engine.record import Record


@dataclass(frozen=True, slots=True)
class Step:
    """What one page of a replay shows.

    Attributes:
        title: of the day or trick.
        hands: per seat, the cards held when it began, ascending.
        moves: per move, the seat and its text, in order.
        note: what came of it.
        points: per seat afterwards: day cards won, gifts, or final points.
    """

    title: str
    hands: list[list[int]]
    moves: list[tuple[int, str]]
    note: str
    points: list[int]


def steps(record: Record) -> list[Step]:
    """Return the steps of a match, from a record that verifies; the last shows the end."""
    state = record.start()
    made: list[Step] = []
    moves: list[tuple[int, str]] = []
    before = state.spectate()
    hands = _hands(state)
    for seat, text in record.moves:
        moves.append((seat, text))
        state.step_unchecked({seat: state.moves.ids[text]})
        if state.phase not in ("give", "lead", "over") or _waiting(state):
            continue
        after = state.spectate()
        made.append(Step(_title(before), hands, moves, _note(before, after), _points(after)))
        moves, before, hands = [], after, _hands(state)
    ending = Step("The end", hands, [], "Final points, hands counted.", list(record.scores))
    return [*made, ending]


def _waiting(state: Any) -> bool:
    """Return whether some of those who decide at once have, and others not yet."""
    return state.phase == "give" and len(state.actors) < state.seats


def _hands(state: Any) -> list[list[int]]:
    return [state.observe(seat)["hand"] for seat in range(state.seats)]


def _title(public: dict[str, Any]) -> str:
    if public["game"] == "twelve-days":
        pot = sum(public["pot"])
        return f"Day {public['day']}, {pot} point{'s' if pot > 1 else ''} at stake"
    return f"Round {public['round']}, trick {len(public['history']) + 1}"


def _note(before: dict[str, Any], after: dict[str, Any]) -> str:
    if before["game"] == "twelve-days":
        day = after["history"][-1]
        if day["winner"] is None:
            return "Nobody wins the day."
        given = f" and awards it to seat {day['to']}" if day["to"] != day["winner"] else ""
        return f"Seat {day['winner']} wins the pot{given}."
    won = len(after["rounds_won"]) > len(before["rounds_won"])
    return f"Seat {after['leader']} wins the {'round' if won else 'trick'}."


def _points(public: dict[str, Any]) -> list[int]:
    if public["game"] == "twelve-days":
        return [sum(cards) for cards in public["day_cards"]]
    return list(public["gifts"])
