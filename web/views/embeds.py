"""Embeds: a match, a ladder or a tournament as a bare page that other sites show in a frame."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from engine.pairing import rounds_opened
from league.competitions.history import history_of
from league.competitions.tournament_standings import bracket_of, standings_of
from league.models import Ladder, Match, Tournament
from web import event_story, tournament_page
from web.csp import framed
from web.requests import whole_number
from web.selectors.ladders import bot_ahead, standings_page, sums_of
from web.selectors.matches import matches_with_seats
from web.selectors.tournaments import bots_left
from web.table.tables import table_of

_ROWS = 10


@framed
@require_safe
def match(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the table of a match, live or as a replay."""
    found = get_object_or_404(matches_with_seats(), pk=pk)
    table = table_of(found, whole_number(request.GET.get("step", "")) or 1)
    context = {
        "match": found,
        "table": table,
        "live": table is None and found.status != Match.Status.VOID,
    }
    return render(request, "web/embeds/match.html", context)


@framed
@require_safe
def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the best bots of a ladder."""
    found = get_object_or_404(Ladder, slug=slug)
    _, rows = standings_page(found, "", "1", _ROWS)
    ranked = [(row, None) for row in rows if not row.standing.is_provisional]
    provisional = [(row, None) for row in rows if row.standing.is_provisional]
    context = {
        "ladder": found,
        "groups": [("ranked", ranked), ("provisional", provisional)],
        "ahead": bot_ahead(found),
        "rows": rows,
        "sums": sums_of(found),
    }
    return render(request, "web/embeds/ladder.html", context)


@framed
@require_safe
def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a tournament's state and its bracket, or the top of its standings."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    history = history_of(found)
    placed = standings_of(history)
    rows = tournament_page.standings_rows(placed)
    names = tournament_page.round_names(history)
    bracket = bracket_of(history)
    context: dict[str, Any] = {
        "tournament": found,
        "now": event_story.now(history, [name for _, name in names]),
        "bracket": bracket,
        "left": bots_left(bracket),
        "undrawn": []
        if history.is_over
        else event_story.undrawn_stages(bracket, found.ladder.seats),
        "begun": any(one.row.blocks for one in placed),
        "standings": rows,
        "ranked": tournament_page.ranked(rows),
        "top": tournament_page.standings_rows(placed[:_ROWS]),
        "opened": rounds_opened(history.rounds),
        "length": tournament_page.planned_rounds(history),
        "live": found.state in (Tournament.State.RUNNING, Tournament.State.ENTRIES_OPEN),
    }
    return render(request, "web/embeds/tournament.html", context)
