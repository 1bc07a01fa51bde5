"""Error bars as numbers for inline SVG, all rows of a table on one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from league.models import Standing
from league.models.standings import SHOWN

WIDTH, HEIGHT = 120, 16
_EDGE = 5


@dataclass(frozen=True, slots=True)
class Bar:
    """An estimate with its 95 % interval, in units of the drawing.

    Attributes:
        left: where the bar begins.
        right: where it ends.
        dot: where the estimate is.
        open_left: whether the interval continues beyond the left edge.
        open_right: whether the interval continues beyond the right edge.
    """

    left: float
    right: float
    dot: float
    open_left: bool
    open_right: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """A standing's 95 % interval.

    Attributes:
        margin: half its length, in Elo; None if the performance has no error bar.
        bar: the interval, drawn; None without a margin.
    """

    margin: float | None
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class Axis:
    """The Elo values of the edges."""

    low: float
    high: float

    def across(self, elo: float) -> float:
        """Return the position of an Elo value, at most as far as the edges."""
        share = (elo - self.low) / (self.high - self.low)
        return round(_EDGE + min(max(share, 0), 1) * (WIDTH - 2 * _EDGE), 1)

    def bar(self, elo: float, margin: float) -> Bar:
        """Return the bar of an estimate with a margin to either side."""
        low, high = elo - margin, elo + margin
        return Bar(
            self.across(low), self.across(high), self.across(elo), low < self.low, high > self.high
        )


def with_intervals(rows: Sequence[Standing]) -> tuple[Mapping[int, Interval], Axis | None]:
    """Return the intervals of standings by their bot's id, and the axis that they share.

    The axis spans the intervals of the ranked bots. Intervals of provisional and hidden bots may
    be much longer, so they may continue beyond its edges. Without any interval there is no axis.
    """
    margins = {row.bot_id: row.performance_margin for row in rows}
    drawn = [
        (row, row.performance, half)
        for row in rows
        if row.performance is not None and (half := margins[row.bot_id]) is not None
    ]
    if not drawn:
        return {bot: Interval(half, None) for bot, half in margins.items()}, None
    seen = [each for each in drawn if each[0].hidden == SHOWN] or drawn
    fixing = [each for each in seen if not each[0].is_provisional] or seen
    low = min(elo - half for _, elo, half in fixing)
    high = max(elo + half for _, elo, half in fixing)
    axis = Axis(low, max(high, low + 1))
    bars = {row.bot_id: axis.bar(elo, half) for row, elo, half in drawn}
    return {bot: Interval(half, bars.get(bot)) for bot, half in margins.items()}, axis
