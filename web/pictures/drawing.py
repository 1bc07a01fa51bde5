"""Turns pictures from SVG into PNG, and has the shapes of the cards.

The font is the project's own, so a picture is the same on every server. If a text has letters that
the font lacks, such as Chinese ones, the fonts of the server's system fill in.
"""

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from threading import Semaphore
from xml.dom import minidom

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from web.pictures.text import is_covered
from web.table.steps import Card

WIDTH, HEIGHT = 1200, 630
"""Size of every picture in pixels: the one that sites ask for."""
CARD_WIDTH, CARD_HEIGHT = 50, 70
"""Size of a card before it is scaled."""

_FONT = Path(__file__).parent / "font" / "DejaVuSerifCondensed-Bold.ttf"
_FAMILY = "DejaVu Serif"
_PATIENCE_SECONDS = 3.0
_LONGEST_SECONDS = 10.0
_MAX_WAITING = 2
"""Threads of a process that may wait while another one draws."""
_one_at_a_time = Semaphore()
_drawing_or_waiting = Semaphore(1 + _MAX_WAITING)
_COLOURS = ("#1f2421", "#8a6210", "#24568f", "#a3242f", "#1a5c46")
_COLOUR_OF_RANK = (0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 4, 2, 3)
"""Index into the colours, by rank, as in ``base.css``."""
_OUTLINE = (
    '<rect x="-1" y="-1" width="52" height="72" rx="7" fill="none" stroke="#f2c14e" '
    'stroke-width="4"/>'
)
_SITE = (("r1", -24), ("r5", -12), ("r0", 0), ("r7", 12), ("r12", 24))
"""The cards of the site's picture, and how far they lean, in degrees."""
_RAISED = 8
"""Pixels by which a card that scores stands above the others."""


class BusyError(Exception):
    """Too many pictures wait to be drawn."""


def as_png(svg: str) -> bytes:
    """Return an SVG document as PNG.

    resvg holds Python's lock while it draws, about 0.1 s, which would stop all threads of a web
    process. So a separate process draws, one picture at a time.

    At most `_MAX_WAITING` threads wait for their turn, so that the others are free for pages.

    Raises:
        BusyError: too many pictures wait, or other pictures take all the time.
        ValueError: the document is no SVG.
    """
    if not _drawing_or_waiting.acquire(blocking=False):
        raise BusyError
    try:
        return _in_turn(svg)
    finally:
        _drawing_or_waiting.release()


def _in_turn(svg: str) -> bytes:
    if not _one_at_a_time.acquire(timeout=_PATIENCE_SECONDS):
        raise BusyError
    try:
        drawn = subprocess.run(
            [*_command(), "own" if is_covered(unescape(svg)) else "all"],
            input=svg.encode(),
            capture_output=True,
            timeout=_LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise BusyError from error
    finally:
        _one_at_a_time.release()
    if drawn.returncode:
        raise ValueError(drawn.stderr.decode(errors="replace")[-500:])
    return drawn.stdout


@cache
def _command() -> list[str]:
    """Return the command that draws, but for its last argument."""
    spec = find_spec("resvg_py")
    origin = None if spec is None else spec.origin
    assert origin is not None, "resvg-py is installed"
    child = Path(__file__).with_name("child.py")
    folder = Path(origin).parents[1]
    python = [sys.executable, "-I", "-S", "-X", "utf8", str(child)]
    return [*python, str(folder), str(_FONT), _FAMILY]


@cache
def site_svg() -> str:
    """Return the picture of the site as SVG: its name and some cards."""
    return render_to_string("web/pictures/site.svg", {"shapes": card_shapes(), "cards": _SITE})


@cache
def card_shapes() -> SafeString:
    """Return definitions of all cards, ``r0`` to ``r12``, with the drawings of the pages."""
    found = finders.find("web/cards.svg")
    assert isinstance(found, str), "the drawings of the cards are a static file"
    drawings = [
        node
        for node in minidom.parse(found).getElementsByTagName("g")[0].childNodes
        if isinstance(node, minidom.Element)
    ]
    return mark_safe("".join(_shape(rank, each) for rank, each in enumerate(drawings)))


def _shape(rank: int, drawing: minidom.Element) -> str:
    colour = _COLOURS[_COLOUR_OF_RANK[rank]]
    number = f'<text x="4" y="19" font-size="19" fill="{colour}">{rank}</text>'
    return (
        f'<g id="r{rank}"><rect x=".5" y=".5" width="49" height="69" rx="6" fill="#fffdf8" '
        'stroke="#cdc3b0"/>'
        f'<g transform="translate(1 17) scale(.8) translate({-60 * rank})" stroke-linejoin="round" '
        f'stroke-linecap="round">{drawing.toxml()}</g>'
        f"{number}</g>"
    )


def fan(
    cards: Sequence[Card], left: float, top: float, room: float, width: float, align: float = 0
) -> SafeString:
    """Return cards in a row, which overlap if there is little room; those that score are raised.

    Args:
        cards: in order.
        left: edge of the room, in pixels.
        top: of the cards.
        room: width of the row at most.
        width: of a card.
        align: 0 at the left end of the room, 0.5 in its middle, 1 at its right end.
    """
    shapes = [
        f'<g transform="translate(0 {-_RAISED})"><use href="#r{card.rank}"/>{_OUTLINE}</g>'
        if "scored" in card.marks
        else f'<use href="#r{card.rank}"/>'
        for card in cards
    ]
    return _row(shapes, left, top, room, width, align)


def day_fan(days: Sequence[int], left: float, top: float, room: float, width: float) -> SafeString:
    """Return day cards in a row in the middle of a room; as `fan`."""
    shapes = [
        f'<use href="#day"/><text x="25" y="45" font-size="27" text-anchor="middle" '
        f'fill="#43320a">{day}</text>'
        for day in days
    ]
    return _row(shapes, left, top, room, width, 0.5)


def _row(
    shapes: Sequence[str], left: float, top: float, room: float, width: float, align: float
) -> SafeString:
    # All parts are safe: numbers and constants.
    if not shapes:
        return mark_safe("")
    count = len(shapes)
    step = min(width + 3, (room - width) / max(1, count - 1))
    begins = left + align * (room - width - step * (count - 1))
    scale = width / CARD_WIDTH
    placed = (
        f'<g transform="translate({begins + at * step:.1f} {top:.1f}) scale({scale:.3f})">'
        f"{shape}</g>"
        for at, shape in enumerate(shapes)
    )
    return mark_safe("".join(placed))
