"""The home page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from league.models import Tournament
from web.selectors import ladders, matches, tournaments

_PLAYING = 6
_LATEST = 10
_COMING = 6
_PAST = 4
_TOP = 5
_FAN = [12, 5, 0, 3, 1]
"""Ranks of the cards in the picture."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the league: matches in play, tournaments, the best bots and how to write one."""
    coming = list(tournaments.tournaments_to_come()[:_COMING])
    playing = list(matches.matches_playing(_PLAYING))
    is_running = any(tournament.state == Tournament.State.RUNNING for tournament in coming)
    context = {
        "playing": playing,
        "ladders": ladders.ladders_with_top(_TOP),
        "coming": coming,
        "past": tournaments.tournaments_past()[:_PAST],
        "matches": matches.matches_finished(_LATEST),
        "fan": _FAN,
        "live": bool(playing) or is_running,
    }
    return render(request, "web/home.html", context)
