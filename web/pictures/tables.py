"""The picture of a match: the table at a step, with names and points."""

from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from engine.games.titles import title
from league.models import Match
from league.play.headlines import headline
from web.pictures.drawing import card_shapes, day_fan, fan
from web.pictures.text import Fitted, fitted, wrapped
from web.table.steps import SeatStep, Step
from web.table.tables import Table

_AREAS = {
    2: ("1", "c", "0"),
    3: ("1c2", ".0."),
    4: (".2.", "1c3", ".0."),
    5: ("2.3", "1c4", ".0."),
    6: ("234", ".c.", "105"),
    7: ("3.4", "2c5", "106"),
    8: ("345", "2c6", "107"),
}
"""Places on the felt by number of seats, row by row; as in ``table.css``. A ``c`` is the centre."""
_LEFT, _TOP, _WIDTH, _HEIGHT = 58, 146, 1084, 400
_GAP = 20
_PLATE = 42
_HAND, _PLAY, _DAY = 40, 54, 56
"""Widths of cards in a hand, on the felt, and of day cards."""


class Picture(NamedTuple):
    """A picture for a page.

    Attributes:
        address: without the host.
        alt: what the picture shows, for people who don't see it.
    """

    address: str
    alt: str


class Box(NamedTuple):
    """A place on the felt, in pixels."""

    x: float
    y: float
    width: float
    height: float


class Place(NamedTuple):
    """A seat as it is drawn.

    Attributes:
        box: its place.
        seat: what it did.
        name: as much as fits.
        cards: those in its hand and those that it played.
        word: beside the cards, such as "passes".
    """

    box: Box
    seat: SeatStep
    name: Fitted
    cards: SafeString
    word: str


def picture_of(table: Table, number: int | None) -> Picture:
    """Return the picture of a table for its page.

    Args:
        table: of a match that everybody may watch.
        number: of the step that the page's address names; None for the last step.
    """
    address = reverse("web:match-picture", args=[table.match.pk])
    shown = step_shown(table, number)
    if table.mode == "replay" and number is not None:
        address += f"?step={table.steps.index(shown) + 1}"
    return Picture(address, f"A card table. {shown.title}. Points: {_points(shown)}.")


def step_shown(table: Table, number: int | None) -> Step:
    """Return the step that a picture shows: the nearest to a number, without one the last."""
    return table.steps[-1 if number is None else min(max(number, 1), table.last) - 1]


def match_svg(table: Table, number: int | None) -> str:
    """Return the picture of a match as SVG; as `picture_of`."""
    step, match = step_shown(table, number), table.match
    boxes = _boxes(len(step.seats))
    centre = boxes.pop("c")
    context: dict[str, Any] = {
        "kicker": fitted(f"{title(match.game, match.rules)} · {step.title}", 800, 24),
        "title": wrapped(headline(match), 1120, 44, 28),
        "shapes": card_shapes(),
        "places": [_place(step.seats[int(seat)], box) for seat, box in sorted(boxes.items())],
        "stake": _stake(step, match),
        "stake_at": (centre.x + centre.width / 2, centre.y + centre.height / 2 + 58),
        "days": day_fan(step.pot, centre.x, centre.y + centre.height / 2 - 50, centre.width, _DAY),
        "note": _note(step),
    }
    return render_to_string("web/pictures/match.svg", context)


def _stake(step: Step, match: Match) -> str:
    if not step.pot:
        return ""
    return f"Pot: {step.stake} point{'' if step.stake == 1 else 's'}"


def _points(step: Step) -> str:
    """Return the points of all seats; at the end, by place."""
    return ", ".join(f"{seat.name} {seat.points}" for seat in step.by_place)


def _note(step: Step) -> Fitted:
    """Return the last sentences on the step that fit in one line; at the end, who won and how."""
    if step.is_end:
        return fitted(f"{step.why} {_points(step)}", 1120, 24, 20)
    for at in range(len(step.reasons)):
        note = fitted(" ".join(step.reasons[at:]), 1120, 24, 20)
        if not note.text.endswith("…"):
            break
    else:
        note = fitted("".join(step.reasons[-1:]), 1120, 24, 20)
    return note


def _boxes(seats: int) -> dict[str, Box]:
    rows = _AREAS[seats]
    columns = len(rows[0])
    width = (_WIDTH - _GAP * (columns - 1)) / columns
    height = (_HEIGHT - _GAP * (len(rows) - 1)) / len(rows)
    left: float = _LEFT
    if columns == 1:
        width = 0.62 * _WIDTH
        left = _LEFT + (_WIDTH - width) / 2
    return {
        name: Box(left + x * (width + _GAP), _TOP + y * (height + _GAP), width, height)
        for y, row in enumerate(rows)
        for x, name in enumerate(row)
        if name != "."
    }


def _place(seat: SeatStep, box: Box) -> Place:
    top = box.y + _PLATE + 9
    on_felt = min(len(seat.on_felt) * (_PLAY + 3), 0.5 * box.width)
    played = fan(seat.on_felt, box.x + box.width - on_felt, top, on_felt, _PLAY, 1)
    beside = 110 if seat.passes else on_felt + 12 if seat.on_felt else 0
    hand = fan(seat.held, box.x, top + 8, box.width - beside, _HAND)
    word = "passes" if seat.passes else ""
    room = box.width - 40 - (120 if seat.change else 70)
    return Place(box, seat, fitted(seat.name, room, 24, 19), hand + played, word)
