"""Error bars as numbers for inline SVG, all rows of a table on one axis."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.rating.intervals import Z_95
from league.models import Standing
from league.models.ladders import RANKED_FROM
from league.ratings.hiding import SHOWN

WIDTH, HEIGHT = 120, 16
_EDGE = 5


@dataclass(frozen=True, slots=True)
class Bar:
    """An estimate with its 95 % interval, drawn.

    Attributes:
        left: where the bar begins.
        right: where it ends.
        dot: where the estimate is.
        open_left: whether it goes on beyond the left edge.
        open_right: whether it goes on beyond the right edge.
    """

    left: float
    right: float
    dot: float
    open_left: bool
    open_right: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """What the edges stand for, in Elo."""

    low: float
    high: float

    def across(self, elo: float) -> float:
        """Return where a number stands, kept between the edges."""
        share = (elo - self.low) / (self.high - self.low)
        return round(_EDGE + min(max(share, 0), 1) * (WIDTH - 2 * _EDGE), 1)

    def bar(self, elo: float, margin: float) -> Bar:
        """Return the bar of an estimate and what it may be off to either side."""
        low, high = elo - margin, elo + margin
        return Bar(
            self.across(low), self.across(high), self.across(elo), low < self.low, high > self.high
        )


def margin(standing: Standing) -> float | None:
    """Return half the length of a standing's 95 % interval, in Elo; None where it has none."""
    return None if standing.performance_error is None else Z_95 * standing.performance_error


def add_bars(rows: Sequence[Standing]) -> Axis | None:
    """Give standings their ``margin`` and ``bar`` on a common axis, and return that.

    The axis holds the intervals of bots with a rank: those of provisional ones may be so long that
    nothing else could be seen, and go on beyond its edges, as those of hidden ones do.
    """
    for row in rows:
        row.margin, row.bar = margin(row), None  # type: ignore[attr-defined]
    shown = [
        (row, row.performance, half)
        for row in rows
        if row.performance is not None and (half := margin(row)) is not None
    ]
    if not shown:
        return None
    seen = [each for each in shown if each[0].hidden == SHOWN] or shown
    fixing = [each for each in seen if each[0].blocks_for_rank >= RANKED_FROM] or seen
    low = min(elo - half for _, elo, half in fixing)
    high = max(elo + half for _, elo, half in fixing)
    axis = Axis(low, max(high, low + 1))
    for row, elo, half in shown:
        row.bar = axis.bar(elo, half)  # type: ignore[attr-defined]
    return axis
