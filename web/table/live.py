"""A match in play, for people: what the public sees of its last days or tricks, hands hidden."""

from collections.abc import Mapping, Sequence
from typing import Any

from web.table.replays import SeatStep, Step, day_note

_LAST = 3
"""Steps that are shown."""


def live_steps(view: Mapping[str, Any], names: Sequence[str]) -> list[Step]:
    """Return the last steps of a match in play, the newest first.

    Args:
        view: what `play.watching.public_view` gives.
        names: of the bots, by seat.
    """
    told = _days(view, names) if view["game"] == "twelve-days" else _tricks(view, names)
    return told[: -_LAST - 1 : -1]


def _seats(names: Sequence[str], before: Sequence[int], after: Sequence[int]) -> list[SeatStep]:
    return [
        SeatStep(seat, name, None, before[seat], after[seat]) for seat, name in enumerate(names)
    ]


def _days(view: Mapping[str, Any], names: Sequence[str]) -> list[Step]:
    points = [0] * len(names)
    told = []
    for day in view["history"]:
        before = list(points)
        if day["to"] is not None:
            points[day["to"]] += sum(day["pot"])
        seats = _seats(names, before, points)
        for seat, played in zip(seats, day["plays"], strict=True):
            seat.played, seat.order = [played], seat.seat
            seat.won = day["winner"] == seat.seat
        note = day_note(day["pot"], day["winner"], day["to"], names, last=False)
        told.append(Step("", "", f"Day {day['day']}", note, seats, list(day["pot"])))
    seats = _seats(names, points, points)
    doing = {"give": "give a card to the left", "play": "choose what to play"}
    note = f"Now they {doing.get(view['phase'], 'choose')}."
    told.append(Step("", "", f"Day {view['day']}", note, seats, list(view["pot"])))
    return told


def _tricks(view: Mapping[str, Any], names: Sequence[str]) -> list[Step]:
    gifts = view["gifts"]
    told = []
    for trick in view["history"]:
        seats = _seats(names, gifts, gifts)
        _put(seats, trick["actions"])
        winner = trick["winner"]
        seats[winner].won = True
        for seat in trick["returned"]:
            seats[seat].took_back = True
        told.append(Step("", "", "Trick before", f"{names[winner]} won it.", seats))
    seats = _seats(names, gifts, gifts)
    _put(seats, view["trick"])
    for seat in seats:
        count = view["hand_sizes"][seat.seat]
        seat.extra = f"{count} card{'s' if count != 1 else ''} in hand"
    title = f"Round {view['round']} of {view['rounds']}"
    note = f"{names[view['leader']]} {'leads' if view['trick'] else 'is to lead'}."
    told.append(Step("", "", title, note, seats))
    return told


def _put(seats: Sequence[SeatStep], actions: Sequence[Mapping[str, Any]]) -> None:
    for order, action in enumerate(actions):
        seat = seats[action["seat"]]
        seat.played, seat.order, seat.leads = list(action["cards"]), order, order == 0
