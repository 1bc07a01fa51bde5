"""The picture of a bot: its name, its best standings, and the chart of its rating."""

from django.template.loader import render_to_string

from league.models import Bot, Standing
from league.ratings.standings import StandingRow, public_standing, standing_rows
from web.charts.ratings import chart_of_bot
from web.pictures.text import fitted

_SHOWN = 2
_KINDS = {
    Bot.Kind.HOUSE: "house bot",
    Bot.Kind.REMOTE: "remote bot",
    Bot.Kind.HOSTED: "hosted bot",
}


def bot_svg(bot: Bot) -> str:
    """Return the picture of a bot as SVG; the chart is that of the ladder of most blocks.

    Args:
        bot: with its owner and its current version.
    """
    standings = bot.standings.select_related("ladder__anchor", "bot").order_by("-blocks", "ladder")
    rows = [_row(public_standing(each)) for each in standings[:_SHOWN]]
    kicker = _KINDS.get(Bot.Kind(bot.kind), "bot")
    if bot.owner is not None:
        kicker += f" by {bot.owner.get_username()}"
    if bot.current is not None:
        kicker += f" · version {bot.current.number}"
    context = {
        "kicker": fitted(kicker, 880, 24),
        "title": fitted(bot.name, 1120, 64, 40),
        "lines": [fitted(_line(row), 1120, 28, 22) for row in rows],
        "chart": chart_of_bot(rows[0].standing) if rows else None,
        "rated": bool(rows),
    }
    return render_to_string("web/pictures/bot.svg", context)


def _row(standing: Standing) -> StandingRow:
    [row] = standing_rows(standing.ladder, [standing])
    return row


def _line(row: StandingRow) -> str:
    standing = row.standing
    place = f"Rank {row.rank}" if row.rank else "Hidden" if standing.hidden else "Provisional"
    return f"{place} on {standing.ladder.title}, rated {standing.rating / 1000:.0f}"
