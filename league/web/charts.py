"""Line charts as numbers for inline SVG: the templates draw, this measures."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 12, 26
_MOST_POINTS = 300


@dataclass(frozen=True, slots=True)
class Line:
    """A series to draw.

    Attributes:
        name: of what it shows.
        points: as an SVG polyline takes them.
        end: where it ends.
        last: its last value.
    """

    name: str
    points: str
    end: tuple[float, float]
    last: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines in one frame.

    Attributes:
        lines: in order.
        ticks: values up the side, with their heights.
        first: label at the left end.
        last: label at the right end.
    """

    lines: list[Line]
    ticks: list[tuple[float, str]]
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    floor: int = HEIGHT - _BOTTOM
    foot: int = HEIGHT - 8


def chart(series: Sequence[tuple[str, Sequence[float]]], first: str, last: str) -> Chart | None:
    """Return lines over a common axis, or None where there is nothing to draw a line through.

    Args:
        series: names and their values, evenly spaced.
        first: label at the left end.
        last: label at the right end.
    """
    longest = max((len(values) for _, values in series), default=0)
    if longest < 2:
        return None
    values = [value for _, line in series for value in line]
    low, high, step = _frame(min(values), max(values))

    def height(value: float) -> float:
        share = (value - low) / (high - low)
        return round(HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP), 1)

    def across(index: int) -> float:
        return round(_LEFT + index * (WIDTH - _LEFT - _RIGHT) / (longest - 1), 1)

    lines = []
    for name, line in series:
        every = -(-len(line) // _MOST_POINTS)
        kept = [(across(i), height(v)) for i, v in enumerate(line) if i % every == 0]
        end = (across(len(line) - 1), height(line[-1]))
        if kept[-1] != end:
            kept.append(end)
        lines.append(Line(name, " ".join(f"{x},{y}" for x, y in kept), end, line[-1]))
    count = round((high - low) / step)
    ticks = [(height(low + i * step), f"{low + i * step:g}") for i in range(count + 1)]
    return Chart(lines, ticks, first, last)


def _frame(low: float, high: float) -> tuple[float, float, float]:
    """Return a round lowest and highest value and the step between ticks, three to six of them."""
    span = max(high - low, 1)
    step = 10.0 ** (len(str(int(span))) - 1)
    for finer in (1, 0.5, 0.2):
        if span / (step * finer) >= 2:
            step *= finer
            break
    else:
        step *= 0.2
    step = max(step, 1)
    while span / step > 6:
        step *= 2
    bottom = low // step * step
    top = -(-high // step) * step
    return bottom, max(top, bottom + step), step
