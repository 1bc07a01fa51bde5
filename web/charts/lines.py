"""Line charts as numbers for inline SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 12, 12, 26
_MAX_POINTS = 300
_WIDE = 2.5
"""Distance of two lines of equal value; a line is 2.25 wide."""
_NEAR = 20
"""Half of the room that the label of an upright line needs, on phones too."""


@dataclass(frozen=True, slots=True)
class Line:
    """A series to draw.

    Attributes:
        name: of the series.
        points: of an SVG polyline.
        end: position of the last point.
        last: the last value.
    """

    name: str
    points: str
    end: tuple[float, float]
    last: float


class Mark(NamedTuple):
    """A point of the first line that shows a text.

    Attributes:
        x, y: its position.
        text: the words.
    """

    x: float
    y: float
    text: str


class Bound(NamedTuple):
    """An upright line.

    Attributes:
        x: its position.
        label: the words at its upper end.
        anchor: on which side of the line they stand, so that they touch neither the label of the
            next line nor the edge: "end", "middle" or "start".
    """

    x: float
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines in one frame.

    Attributes:
        lines: in order.
        areas: points of SVG polygons to shade behind the lines.
        ticks: position and text of each value on the left side.
        first: label at the left end.
        last: label at the right end.
        marks: points of the first line with words of their own.
        bounds: the upright lines, such as where a version begins, from left to right.
    """

    lines: list[Line]
    areas: list[str]
    ticks: list[tuple[float, str]]
    first: str
    last: str
    marks: list[Mark] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    floor: int = HEIGHT - _BOTTOM
    foot: int = HEIGHT - 8
    top: int = _TOP


Values = Sequence[float | None]
"""Evenly spaced values; only the first ones may be None, before the series begins."""


def chart(
    series: Sequence[tuple[str, Values]],
    first: str,
    last: str,
    bands: Sequence[tuple[Values, Values]] = (),
    *,
    marks: Mapping[int, str] | None = None,
    begins: Mapping[int, str] | None = None,
    side_by_side: bool = False,
) -> Chart | None:
    """Return lines over a common axis; None if no series has two points.

    Args:
        series: names and their values.
        first: label at the left end.
        last: label at the right end.
        bands: lower and upper bounds to shade between.
        marks: words about values of the first series, by their index.
        begins: labels of upright lines, by the index where they stand.
        side_by_side: whether lines of equal value lie beside each other, the first one lowest, and
            not on each other.
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

    def points(line: Values, lanes: Sequence[int] = ()) -> list[tuple[float, float]]:
        every = -(-len(line) // _MAX_POINTS)
        final = len(line) - 1
        return [
            (across(i), round(height(value) - (_WIDE * lanes[i] if lanes else 0), 1))
            for i, value in enumerate(line)
            if value is not None and (i % every == 0 or i == final)
        ]

    lanes = _lanes([line for _, line in series]) if side_by_side else [()] * len(series)
    lines = []
    for (name, line), lane in zip(series, lanes, strict=True):
        drawn = points(line, lane)
        lines.append(Line(name, _path(drawn), drawn[-1], line[-1] or 0.0))
    areas = [_path(points(low) + points(high)[::-1]) for low, high in bands]
    count = round((high - low) / step)
    ticks = [(height(low + i * step), f"{low + i * step:g}") for i in range(count + 1)]
    said = [
        Mark(across(index), height(value), text)
        for index, text in (marks or {}).items()
        if (value := series[0][1][index]) is not None
    ]
    bounds_at = _apart([(across(index), label) for index, label in sorted((begins or {}).items())])
    return Chart(lines, [area for area in areas if area], ticks, first, last, said, bounds_at)


def _lanes(lines: Sequence[Values]) -> list[list[int]]:
    """Return a lane for each value of each line, from 0; equal values have different lanes.

    A line keeps its lane while its value stays, so that it stays level.
    """
    found: list[list[int]] = [[] for _ in lines]
    for index in range(max(map(len, lines))):
        now = [line[index] if index < len(line) else None for line in lines]
        stays = [
            bool(index) and line[index - 1 : index + 1] == [each] * 2
            for line, each in zip(lines, now, strict=True)
        ]
        taken: set[tuple[float | None, int]] = set()
        for at in sorted(range(len(lines)), key=lambda at: not stays[at]):
            free = (lane for lane in range(len(lines)) if (now[at], lane) not in taken)
            lane = found[at][-1] if stays[at] else next(free)
            taken.add((now[at], lane))
            found[at].append(lane)
    return found


def _apart(lines: Sequence[tuple[float, str]]) -> list[Bound]:
    """Return upright lines with labels that leave each other room."""
    found = []
    for at, (x, label) in enumerate(lines):
        before = lines[at - 1][0] if at else _LEFT - _NEAR
        after = lines[at + 1][0] if at + 1 < len(lines) else WIDTH - _RIGHT + _NEAR
        near_before, near_after = x - before < 2 * _NEAR, after - x < 2 * _NEAR
        anchor = "middle" if near_before == near_after else "start" if near_before else "end"
        found.append(Bound(x, label, anchor))
    return found


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _frame(low: float, high: float) -> tuple[float, float, float]:
    """Return a round lowest and highest value, and a step that makes three to six ticks.

    A line of nearly equal values lies in the middle, so it does not look like an axis.
    """
    if high - low < 1:
        low, high = low - 1, high + 1
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
