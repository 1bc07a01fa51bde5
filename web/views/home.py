"""The home page, and the wall of live tables."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from league.feeds import last_highlights
from league.models import Tournament
from web import tv
from web.selectors import ladders, matches, tournaments

_PLAYING = 6
_LATEST = 8
_COMING = 6
_LADDERS = 6
_TOP = 5
_WALL = 9


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the league: one table, highlights, the best bots, next events, how to take part."""
    coming = list(tournaments.tournaments_to_come()[:_COMING])
    playing = list(matches.matches_playing(_PLAYING))
    highlights = last_highlights()
    live = tv.live_tables(1)
    is_running = any(tournament.state == Tournament.State.RUNNING for tournament in coming)
    context = {
        "table": live[0] if live else tv.worth_seeing(highlights),
        "highlights": highlights,
        "playing": playing,
        "ladders": ladders.ladders_with_movement(_LADDERS, _TOP),
        "coming": coming,
        "matches": matches.matches_finished(_LATEST),
        "live": bool(playing) or is_running,
    }
    return render(request, "web/home.html", context)


@require_safe
def wall(request: HttpRequest) -> HttpResponse:
    """Show up to nine live tables, or the match of the day if none is live."""
    tables = tv.live_tables(_WALL)
    best = None if tables else tv.best_table()
    context = {"tables": tables or ([best] if best else []), "live": True}
    return render(request, "web/tv.html", context)
