"""Line charts as numbers for inline SVG: the templates draw, this measures."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 12, 12, 26
_MAX_POINTS = 300


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
        areas: to shade behind them, as SVG polygons take their points.
        ticks: values up the side, with their heights.
        first: label at the left end.
        last: label at the right end.
    """

    lines: list[Line]
    areas: list[str]
    ticks: list[tuple[float, str]]
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    floor: int = HEIGHT - _BOTTOM
    foot: int = HEIGHT - 8


Values = Sequence[float | None]
"""Evenly spaced; None where there is nothing yet, which only the first can be."""


def chart(
    series: Sequence[tuple[str, Values]],
    first: str,
    last: str,
    bands: Sequence[tuple[Values, Values]] = (),
) -> Chart | None:
    """Return lines over a common axis, or None where there is nothing to draw a line through.

    Args:
        series: names and their values.
        first: label at the left end.
        last: label at the right end.
        bands: lower and upper bounds to shade between.
    """
    series = [(name, line) for name, line in series if line and line[-1] is not None]
    longest = max((len(values) for _, values in series), default=0)
    if longest < 2:
        return None
    bounds = [bound for band in bands for bound in band]
    every_line = [*(line for _, line in series), *bounds]
    values = [value for line in every_line for value in line if value is not None]
    low, high, step = _frame(min(values), max(values))

    def height(value: float) -> float:
        share = (value - low) / (high - low)
        return round(HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP), 1)

    def across(index: int) -> float:
        return round(_LEFT + index * (WIDTH - _LEFT - _RIGHT) / (longest - 1), 1)

    def points(line: Values) -> list[tuple[float, float]]:
        every = -(-len(line) // _MAX_POINTS)
        final = len(line) - 1
        return [
            (across(i), height(value))
            for i, value in enumerate(line)
            if value is not None and (i % every == 0 or i == final)
        ]

    lines = []
    for name, line in series:
        drawn = points(line)
        lines.append(Line(name, _path(drawn), drawn[-1], line[-1] or 0.0))
    areas = [_path(points(low) + points(high)[::-1]) for low, high in bands]
    count = round((high - low) / step)
    ticks = [(height(low + i * step), f"{low + i * step:g}") for i in range(count + 1)]
    return Chart(lines, [area for area in areas if area], ticks, first, last)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


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
