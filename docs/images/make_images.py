"""Draw the pictures of the rules pages: run ``python docs/images/make_images.py`` after a change.

The script writes SVG files beside itself. The data stands at the end of the file; the test
``tests/docs/test_images.py`` compares it with the example matches. The gifts on the cards are
those of the web pages' sheet of cards. Each picture has its own background, so it looks the same
on a light and on a dark page, and refers to nothing outside itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
WIDTH = 360
"""Units in a picture's width: about the CSS pixels that a small phone shows."""
NATURAL_WIDTH = 480
"""CSS pixels that a picture takes where there is room."""

CREAM, PALE, GOLD = "#f4f1e6", "#d5e2da", "#ffd97a"
_GOLD, _BLUE, _RED, _GREEN = "#8a6210", "#24568f", "#a3242f", "#1a5c46"
INKS = ("#1f2421", *(_GOLD, _BLUE, _RED, _GREEN) * 2, _GOLD, _GREEN, _BLUE, _RED)
"""Colour of the number on a card, by rank, as on the tables."""
_SVG = "http://www.w3.org/2000/svg"

GIFTS = (
    "Claus",
    "partridge",
    "turtle dove",
    "French hen",
    "calling bird",
    "golden ring",
    "goose",
    "swan",
    "maid",
    "lady",
    "lord",
    "piper",
    "drummer",
)
"""Name of the gift on a card, by rank."""


@dataclass(frozen=True)
class Day:
    """A day of ``twelve-days``: the day cards at stake, the plays by seat, and what came of it."""

    day: int
    pot: tuple[int, ...]
    plays: tuple[int, ...]
    winner: int | None
    to: int | None


@dataclass(frozen=True)
class Action:
    """What a seat did in a trick of ``partridge``; ``cards`` is empty for a pass."""

    seat: int
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Trick:
    """A trick of ``partridge``: its number, the actions in order, and what came of it."""

    number: int
    actions: tuple[Action, ...]
    winner: int
    returned: tuple[int, ...]


# -- Parts of a picture ----------------------------------------------------------------------


def read_gifts() -> list[str]:
    """Return the drawing of each rank, 60 units wide and high, from the pages' sheet of cards."""
    [sheet] = HERE.parent.parent.glob("*/static/*/cards.svg")
    ElementTree.register_namespace("", _SVG)
    [group] = ElementTree.parse(sheet).getroot()
    drawings = []
    for gift in group:
        gift.attrib.pop("transform", None)
        drawing = ElementTree.tostring(gift, encoding="unicode").strip()
        drawings.append(drawing.replace(f' xmlns="{_SVG}"', ""))
    return drawings


class Picture:
    """A picture in the making: add parts, then `render` it."""

    def __init__(self, title: str, height: int) -> None:
        """Begin a picture.

        Args:
            title: what the picture shows, for readers who do not see it.
            height: in units, of which the width has `WIDTH`.
        """
        self._title = title
        self._height = height
        self._parts: list[str] = []
        self._ranks: set[int] = set()

    def text(
        self, x: float, y: float, words: str, *, size: int = 14, fill: str = CREAM, **more: str
    ) -> None:
        """Write words; ``y`` is their base line, ``more`` are attributes such as ``anchor``."""
        extra = "".join(
            f' {"text-anchor" if key == "anchor" else "font-" + key}="{value}"'
            for key, value in more.items()
        )
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}"{extra}>'
            f"{escape(words)}</text>"
        )

    def card(
        self, x: float, y: float, rank: int, *, won: bool = False, cancelled: bool = False
    ) -> None:
        """Draw a gift card of 38 by 54 units; ``won`` frames it, ``cancelled`` strikes it out."""
        self._ranks.add(rank)
        frame = ' stroke="#f2c14e" stroke-width="3"' if won else ' stroke="#cdc3b0"'
        strike = '<path d="M5 49L33 5" stroke="#c22f3a" stroke-width="3"/>' if cancelled else ""
        self._parts.append(
            f'<g transform="translate({x:g} {y:g})">'
            f'<rect width="38" height="54" rx="5" fill="#fffdf8"{frame}/>'
            f'<text x="4" y="16" font-size="16" font-weight="700" font-family="Georgia, serif" '
            f'fill="{INKS[rank]}">{rank}</text>'
            f'<use href="#gift-{rank}" transform="translate(2 18) scale(0.57)"/>{strike}</g>'
        )

    def day_card(self, x: float, y: float, day: int) -> None:
        """Draw a day card of 38 by 54 units."""
        self._parts.append(
            f'<g transform="translate({x:g} {y:g})">'
            f'<rect width="38" height="54" rx="5" fill="#f2c14e" stroke="#7a5a12"/>'
            f'<rect x="3" y="3" width="32" height="48" rx="3" fill="none" stroke="#fff6da" '
            f'stroke-width="2.5"/><text x="19" y="35" font-size="21" font-weight="700" '
            f'font-family="Georgia, serif" text-anchor="middle" fill="#43320a">{day}</text></g>'
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw an arrow from one point to another."""
        self._parts.append(
            f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{PALE}" stroke-width="3" '
            f'marker-end="url(#tip)"/>'
        )

    def render(self, gifts: Sequence[str]) -> str:
        """Return the picture as the text of an SVG file."""
        symbols = "\n".join(
            f'<g id="gift-{rank}">{gifts[rank]}</g>' for rank in sorted(self._ranks)
        )
        height = NATURAL_WIDTH * self._height // WIDTH
        parts = "\n".join(self._parts)
        return f"""<svg xmlns="{_SVG}" viewBox="0 0 {WIDTH} {self._height}" \
width="{NATURAL_WIDTH}" height="{height}" role="img" \
font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif">
<title>{escape(self._title)}</title>
<defs>
<linearGradient id="felt" x2="1" y2="1"><stop stop-color="#226b52"/>\
<stop offset="1" stop-color="#174c3a"/></linearGradient>
<marker id="tip" markerWidth="4" markerHeight="4" refX="2" refY="2" orient="auto">\
<path d="M0 0L4 2L0 4z" fill="{PALE}"/></marker>
<g stroke-linejoin="round" stroke-linecap="round">
{symbols}
</g>
</defs>
<rect width="{WIDTH}" height="{self._height}" rx="12" fill="url(#felt)"/>
{parts}
</svg>
"""


# -- Pictures --------------------------------------------------------------------------------


def draw_deck(*, has_claus: bool) -> Picture:
    """Draw one card of each rank with its name; the Claus only if the game has it."""
    lowest = "the Claus, 0," if has_claus else "the partridge, 1,"
    rows = [range(0 if has_claus else 1, 7), range(7, 13)]
    columns = 7 if has_claus else 6  # the Claus has a column of its own
    height = 2 + 90 * len(rows)
    picture = Picture(f"One card of each rank, from {lowest} to the drummer, 12.", height)
    for row, ranks in enumerate(rows):
        for column, rank in enumerate(ranks, columns - len(ranks)):
            x = 40 + (WIDTH - 80) * column // (columns - 1)  # 40: room for half a long name
            y = 10 + row * 90
            picture.card(x - 19, y, rank)
            for line, word in enumerate(GIFTS[rank].split()):
                picture.text(x, y + 68 + 13 * line, word, size=11, anchor="middle")
    return picture


def draw_gives(gives: Sequence[int]) -> Picture:
    """Draw four seats around a table and the card that each gives to its left neighbour."""
    given = [f"{NAMES[s]} gives a {gives[s]} to {NAMES[(s + 1) % 4]}" for s in range(4)]
    picture = Picture(f"Day 1, cards move clockwise: {', '.join(given)}.", 250)
    corners = [(52, 46), (308, 46), (308, 212), (52, 212)]
    for name, (x, y) in zip(NAMES, corners, strict=True):
        picture.text(x, y, name, size=17, weight="700", anchor="middle")
    picture.arrow(88, 40, 266, 40)
    picture.arrow(308, 62, 308, 184)
    picture.arrow(272, 206, 92, 206)
    picture.arrow(52, 190, 52, 66)
    places = [(161, 12), (289, 97), (161, 179), (33, 97)]
    for rank, (x, y) in zip(gives, places, strict=True):
        picture.card(x, y, rank)
    picture.text(180, 122, "Each seat gives a card", anchor="middle", fill=PALE)
    picture.text(180, 140, "to its left neighbour.", anchor="middle", fill=PALE)
    return picture


def draw_day(day: Day) -> Picture:
    """Draw the day cards at stake and the plays of a day."""
    plays = ", ".join(f"{NAMES[seat]} {rank}" for seat, rank in enumerate(day.plays))
    picture = Picture(f"Day {day.day}. Plays: {plays}. {describe_day(day)}", 170)
    picture.text(14, 26, f"Day {day.day}", size=16, weight="700")
    picture.text(14, 50, "Pot", fill=PALE)
    for i, card in enumerate(day.pot):
        picture.day_card(14 + 27 * i, 60, card)
    for seat, rank in enumerate(day.plays):
        x, won = 92 + 66 * seat, seat == day.winner
        cancelled = day.plays.count(rank) > 1
        star = "★ " if won else ""
        fill = GOLD if won else CREAM
        picture.text(x, 50, f"{star}{NAMES[seat]}", fill=fill, weight="700" if won else "400")
        picture.card(x, 60, rank, won=won, cancelled=cancelled)
        if cancelled:
            picture.text(x - 4, 130, "cancelled", size=12, fill=PALE)
    picture.text(14, 156, describe_day(day), size=13)
    return picture


def describe_day(day: Day) -> str:
    """Return in a short sentence what came of a day."""
    points = f"{sum(day.pot)} point{'s' if sum(day.pot) > 1 else ''}"
    if day.winner is None or day.to is None:
        return "No card is left: the pot carries over to the next day."
    if day.winner == day.to:
        return f"{NAMES[day.winner]} wins {points}."
    return f"{NAMES[day.winner]} wins with a Claus and awards {points} to {NAMES[day.to]}."


def draw_combinations() -> Picture:
    """Draw a single, a set and a straight."""
    picture = Picture("A single: 10. A set: 9 9 9. A straight: 6 5 4 3 2.", 218)
    rows = (("Single", "one card", (10,)), ("Set", "one rank", (9, 9, 9)))
    for i, (name, note, cards) in enumerate((*rows, ("Straight", "in a row", (6, 5, 4, 3, 2)))):
        _draw_row(picture, 16 + 66 * i, name, note, cards)
    return picture


def draw_trick(trick: Trick) -> Picture:
    """Draw the actions of a trick, the leader's first."""
    parts = []
    for action in trick.actions:
        cards = " ".join(map(str, action.cards))
        parts.append(f"{NAMES[action.seat]} {'plays ' + cards if cards else 'passes'}")
    title = f"Trick {trick.number}: {', '.join(parts)}. {NAMES[trick.winner]} wins."
    picture = Picture(title, 44 + 66 * len(trick.actions))
    picture.text(14, 26, f"Round 1, trick {trick.number}", size=16, weight="700")
    for i, action in enumerate(trick.actions):
        won = action.seat == trick.winner
        notes = ["leads"] if i == 0 else []
        notes += ["★ wins"] if won else []
        notes += ["passes"] if not action.cards else []
        notes += ["takes back"] if action.seat in trick.returned else []
        _draw_row(picture, 40 + 66 * i, NAMES[action.seat], ", ".join(notes), action.cards, won)
    return picture


def draw_round_end(left: Sequence[Sequence[int]], notes: Sequence[str]) -> Picture:
    """Draw the cards that each seat has left when a round ends, with a note for each seat."""
    parts = [f"{name} has {len(cards)} cards left" for name, cards in zip(NAMES, left, strict=True)]
    picture = Picture(f"The end of round 1: {', '.join(parts)}.", 44 + 66 * len(left))
    picture.text(14, 26, "Cards left at the end of round 1", size=16, weight="700")
    for seat, cards in enumerate(left):
        _draw_row(picture, 40 + 66 * seat, NAMES[seat], notes[seat], cards, not cards)
    return picture


def _draw_row(
    picture: Picture, y: float, name: str, note: str, cards: Sequence[int], won: bool = False
) -> None:
    lines = note.split(", ") if note else []
    top = y + 32 - 8 * len(lines)
    picture.text(14, top, name, fill=GOLD if won else CREAM, weight="700")
    for i, line in enumerate(lines):
        picture.text(14, top + 16 * (i + 1), line, size=12, fill=GOLD if won else PALE)
    for i, rank in enumerate(cards):
        picture.card(98 + 42 * i, y, rank, won=won)


# -- Data: from the example matches in docs/rules ----------------------------------------------

NAMES = ("Ana", "Ben", "Chen", "Dora")

GIVES = (6, 11, 7, 8)
"""Of day 1, by seat."""

DAYS = (
    Day(1, (1,), (8, 7, 6, 6), winner=1, to=1),
    Day(2, (2,), (7, 12, 12, 7), winner=None, to=None),
    Day(3, (2, 3), (10, 8, 3, 0), winner=3, to=0),
)

TRICKS = (
    Trick(
        1,
        (
            Action(0, (10, 9, 8)),
            Action(1, (12, 11, 10, 9, 8, 7)),
            Action(2, (6, 5, 4, 3, 2)),
            Action(3, (12, 11, 10, 9, 8, 7)),
        ),
        winner=2,
        returned=(),
    ),
    Trick(
        5,
        (Action(2, (6, 5)), Action(3, ()), Action(0, (6, 5)), Action(1, ())),
        winner=0,
        returned=(2,),
    ),
)

LEFT = ((), (4, 8, 10), (5, 6), (5, 11, 11))
"""Cards left at the end of round 1, by seat."""

LEFT_NOTES = ("wins the round", "most cards, gives 1 gift", "", "most cards, gives 1 gift")


def draw_all() -> dict[str, str]:
    """Return the text of each SVG file by the file's name."""
    pictures = {
        "cards.svg": draw_deck(has_claus=True),
        "partridge-cards.svg": draw_deck(has_claus=False),
        "twelve-days-give.svg": draw_gives(GIVES),
        **{f"twelve-days-day-{day.day}.svg": draw_day(day) for day in DAYS},
        "partridge-combinations.svg": draw_combinations(),
        **{f"partridge-trick-{trick.number}.svg": draw_trick(trick) for trick in TRICKS},
        "partridge-round-end.svg": draw_round_end(LEFT, LEFT_NOTES),
    }
    gifts = read_gifts()
    return {name: picture.render(gifts) for name, picture in pictures.items()}


if __name__ == "__main__":
    for name, svg in draw_all().items():
        (HERE / name).write_text(svg, encoding="utf-8")
        print(f"wrote {HERE / name}")
