"""The panels of a bot's page: one for each ladder that has rated the bot."""

from dataclasses import dataclass

from engine.pairing import blocks_to_halve_error
from league.competitions import describe_next_block
from league.models import Bot, HeadToHead, Ladder, RoundEntry, Standing
from league.ratings.hiding import why_hidden
from league.ratings.standings import StandingRow, opponents, standing_rows
from web.charts.cross_tables import Cell, cell
from web.charts.lines import Chart
from web.charts.ratings import chart_of_bot
from web.selectors.ladders import last_changes

_OPPONENTS = 20
_CHANGES = 10


@dataclass(frozen=True, slots=True)
class Panel:
    """A bot on a ladder.

    Attributes:
        row: its standing, with rank and trend.
        margin: half the length of the 95 % interval of its performance; None without error bar.
        halve: about how many more blocks halve the margin.
        hidden: why it is hidden and what shows it again; "" if it is shown.
        due: when it plays next, as a sentence.
        chart: of rating and performance; None before there are two points to draw.
        opponents: the opponents that it has met most, with its win share against each.
        changes: the last changes of its rating.
    """

    row: StandingRow
    margin: float | None
    halve: int
    hidden: str
    due: str
    chart: Chart | None
    opponents: list[tuple[HeadToHead, Cell]]
    changes: list[RoundEntry]


@dataclass(frozen=True, slots=True)
class FirstBlocks:
    """A bot on a ladder that has not rated it yet.

    Attributes:
        ladder: that it has entered.
        due: when it plays next, as a sentence.
    """

    ladder: Ladder
    due: str


def first_blocks(bot: Bot) -> list[FirstBlocks]:
    """Return the ladders that a bot has entered and that have not rated it yet."""
    rated = Standing.objects.filter(bot=bot).values("ladder")
    ladders = Ladder.objects.filter(entries__bot=bot).exclude(pk__in=rated).order_by("slug")
    return [
        FirstBlocks(ladder, describe_next_block(Standing(ladder=ladder, bot=bot, blocks=0)))
        for ladder in ladders
    ]


def panel(standing: Standing) -> Panel:
    """Return the panel of a standing, which has its ladder and bot."""
    [row] = standing_rows(standing.ladder, [standing])
    return Panel(
        row=row,
        margin=standing.performance_margin,
        halve=blocks_to_halve_error(standing.performance_blocks),
        hidden=why_hidden(standing, standing.ladder),
        due=describe_next_block(standing),
        chart=chart_of_bot(standing),
        opponents=[(met, cell(met)) for met in opponents(standing, _OPPONENTS)],
        changes=last_changes(standing, _CHANGES),
    )
