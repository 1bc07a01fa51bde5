"""Pictures of the lists: the best bots, the last matches, the ladders' leaders, the tournaments."""

from collections.abc import Callable
from itertools import islice

from engine.games.titles import title
from league.models import Bot, Tournament
from league.play.headlines import headline
from league.visibility import may_see_record
from web.pictures.events import standings_svg
from web.selectors import ladders, matches, tournaments

_ROWS = 7
_SEARCHED = 50
"""Of so many last matches, those without a public result are left out."""
Rows = list[tuple[str, str, str, str]]


def list_svg(name: str) -> str:
    """Return the picture of a list as SVG.

    Args:
        name: one of `LISTS`.
    """
    called, kicker, nothing, rows_of = LISTS[name]
    rows = rows_of()
    state = "" if rows else nothing
    return standings_svg(kicker=kicker, called=called, state=state, rows=rows)


def _bots() -> Rows:
    """Return the best bots of the first ladder that has any."""
    for top in ladders.with_movement(list(ladders.ladders_named("")), _ROWS):
        if top.rows:
            return [
                (
                    "–" if row.rank is None else str(row.rank),
                    row.standing.bot.name,
                    top.ladder.title,
                    f"{row.standing.rating / 1000:.0f}",
                )
                for row in top.rows
            ]
    newest = Bot.objects.active().order_by("-created_at", "pk")[:_ROWS]
    return [("", bot.name, bot.get_kind_display().partition(":")[0], "") for bot in newest]


def _matches() -> Rows:
    """Return the headlines of the last matches whose results are public."""
    shown = (match for match in matches.matches_finished(_SEARCHED) if may_see_record(match))
    return [
        ("", headline(match), title(match.game, match.rules), "") for match in islice(shown, _ROWS)
    ]


def _ladders() -> Rows:
    """Return the ladders with their leaders."""
    tops = ladders.ladders_with_top(1, list(ladders.ladders_named("")[:_ROWS]))
    return [
        (
            "",
            top.ladder.title,
            top.standings[0].bot.name if top.standings else "",
            f"{top.standings[0].rating / 1000:.0f}" if top.standings else "",
        )
        for top in tops
    ]


def _events() -> Rows:
    """Return the running and next tournaments, then those that were over last."""
    found: list[Tournament] = list(tournaments.tournaments_to_come()[:_ROWS])
    found += tournaments.tournaments_past()[: _ROWS - len(found)]
    return [("", each.title, each.get_state_display(), "") for each in found]


LISTS: dict[str, tuple[str, str, str, Callable[[], Rows]]] = {
    "bots": ("Card-playing bots", "Bots", "No bot is here yet.", _bots),
    "matches": ("The latest matches", "Matches", "No match is finished yet.", _matches),
    "ladders": ("The leaders", "Ladders", "There is no ladder yet.", _ladders),
    "events": ("Tournaments", "Tournaments", "No tournament is planned.", _events),
}
"""By list: the headline, the kind of page, the sentence for an empty list, and its rows."""
