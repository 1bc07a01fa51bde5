"""One search over bots, matches and tournaments; each group leads to its list."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from web.filters import filters_of
from web.selectors import bots, matches, tournaments

_ROWS = 5


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the first bots, matches and tournaments for a text; without one, what can be found."""
    wanted = filters_of(request).wanted
    context: dict[str, object] = {"wanted": wanted}
    if wanted:
        coming = tournaments.matching(tournaments.tournaments_to_come(), wanted, "")
        past = tournaments.matching(tournaments.tournaments_past(), wanted, "")
        events = [*coming[: _ROWS + 1], *past[: _ROWS + 1]][: _ROWS + 1]
        found = list(bots.bots_listed(wanted, "")[: _ROWS + 1])
        # Retired bots are not listed, but their matches are.
        played = list(matches.results_first(matches.matches_found(wanted, "", ""), _ROWS + 1))
        context |= {
            "bots": found[:_ROWS],
            "listed": bots.in_columns(found[:_ROWS]),
            "more_bots": len(found) > _ROWS,
            "groups": matches.grouped(matches.tagged(played[:_ROWS])),
            "more_matches": len(played) > _ROWS,
            "tournaments": events[:_ROWS],
            "more_tournaments": len(events) > _ROWS,
            "winners": tournaments.winners_of(events[:_ROWS]),
        }
    return render(request, "web/search.html", context)
