"""What a bot's page tells of it on one ladder."""

from dataclasses import dataclass

from engine.pairing import blocks_to_halve_error
from league.competitions import when_due
from league.models import HeadToHead, RoundEntry, Standing
from league.ratings.hiding import why_hidden
from league.ratings.standings import add_ranks, add_trends, opponents
from web.charts import Chart
from web.crosstables import Cell, cell
from web.intervals import margin
from web.rating_charts import chart_of_bot
from web.selectors import add_results, changes_of

_OPPONENTS = 20
_CHANGES = 10


@dataclass(frozen=True, slots=True)
class Panel:
    """A bot on a ladder.

    Attributes:
        row: its standing, with rank, trend and results.
        margin: half the length of its performance's 95 % interval, if it has one.
        halve: about how many blocks more would halve that.
        hidden: why it is hidden and what shows it again, if it is.
        due: when it plays next, in a sentence.
        chart: of rating and performance, once there is something to draw.
        opponents: those it has met most, with what it took from them.
        changes: of its rating, by its last rounds.
    """

    row: Standing
    margin: float | None
    halve: int
    hidden: str
    due: str
    chart: Chart | None
    opponents: list[tuple[HeadToHead, Cell]]
    changes: list[RoundEntry]


def panel(row: Standing) -> Panel:
    """Return what is told of a standing, which has its ladder and bot."""
    add_ranks([row])
    add_trends(row.ladder, [row])
    add_results([row])
    return Panel(
        row=row,
        margin=margin(row),
        halve=blocks_to_halve_error(row.performance_blocks),
        hidden=why_hidden(row, row.ladder),
        due=when_due(row),
        chart=chart_of_bot(row),
        opponents=[(met, cell(met)) for met in opponents(row, _OPPONENTS)],
        changes=changes_of(row, _CHANGES),
    )
