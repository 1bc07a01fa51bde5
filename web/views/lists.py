"""Lists with search: bots, matches, ladders and events."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engine.games.titles import GAME_TITLES
from league.feeds import last_highlights
from league.models import Bot, Tournament
from web import highlights
from web.requests import page_of, whole_number
from web.selectors import bots as bot_rows
from web.selectors import form
from web.selectors import ladders as ladder_rows
from web.selectors import matches as match_rows
from web.selectors import tournaments as event_rows

_ROWS = 25
_LADDERS = 20
_TOP = 3
_HIGHLIGHTS = 3
_LAST_PAGE = 200
"""Matches have no page beyond this one: a search finds older ones."""
_LONGEST_SEARCH = 80


def _wanted(request: HttpRequest) -> str:
    return request.GET.get("q", "").strip()[:_LONGEST_SEARCH]


def _choice(request: HttpRequest, name: str, allowed: Any) -> str:
    """Return a query parameter if its value is allowed, or else ""."""
    value = request.GET.get(name, "")
    return value if value in allowed else ""


def _games() -> list[tuple[str, str]]:
    return [("", "both games"), *GAME_TITLES.items()]


@require_safe
def bots(request: HttpRequest) -> HttpResponse:
    """List bots with their ratings, the best first."""
    wanted, kind = _wanted(request), _choice(request, "kind", Bot.Kind.values)
    game, sort = _choice(request, "game", GAME_TITLES), _choice(request, "sort", bot_rows.SORTS)
    page = page_of(request, bot_rows.bots_listed(wanted, kind, game, sort), _ROWS)
    standings = [row for bot in page for row in bot.standings.all()]
    kinds = [("", "all bots"), ("house", "house bots"), ("hosted", "hosted bots")]
    context = {
        "page": page,
        "forms": form.forms_of([bot.pk for bot in page]),
        "wanted": wanted,
        "kind": kind,
        "kinds": [*kinds, ("remote", "remote bots")],
        "game": game,
        "games": _games(),
        "sort": sort,
        "sorts": bot_rows.SORTS.items(),
        "mostly_provisional": ladder_rows.mostly_provisional(standings),
        "ranked_from": sorted({row.ranked_from for row in standings}),
    }
    return render(request, "web/lists/bots.html", context)


@require_safe
def matches(request: HttpRequest) -> HttpResponse:
    """List the matches that began last, by bot, game and state."""
    wanted = _wanted(request)
    game = _choice(request, "game", GAME_TITLES)
    state = _choice(request, "state", match_rows.STATES)
    number = min(max(whole_number(request.GET.get("page", "")) or 1, 1), _LAST_PAGE)
    found = match_rows.matches_found(wanted, game, state)
    # One row more than a page shows whether there is a next page; to count all rows takes long.
    rows = list(found[(number - 1) * _ROWS : number * _ROWS + 1])
    is_front = number == 1 and not (wanted or game or state)
    context = {
        "highlights": highlights.shown(last_highlights()[:_HIGHLIGHTS]) if is_front else [],
        "matches": match_rows.tagged(rows[:_ROWS]),
        "previous": number - 1,
        "next": number + 1 if len(rows) > _ROWS and number < _LAST_PAGE else None,
        "wanted": wanted,
        "game": game,
        "games": _games(),
        "state": state,
        "states": match_rows.STATES.items(),
        "live": state == "playing",
    }
    return render(request, "web/lists/matches.html", context)


@require_safe
def ladders(request: HttpRequest) -> HttpResponse:
    """List the ladders, each with its best bots."""
    wanted, game = _wanted(request), _choice(request, "game", GAME_TITLES)
    number = request.GET.get("page")
    page = Paginator(ladder_rows.ladders_named(wanted, game), _LADDERS).get_page(number)
    tops = ladder_rows.with_movement(list(page), _TOP)
    context = {"page": page, "tops": tops, "wanted": wanted, "game": game, "games": _games()}
    return render(request, "web/lists/ladders.html", context)


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """List the running and planned tournaments, then those that are over."""
    wanted = _wanted(request)
    format_ = _choice(request, "format", Tournament.Format.values)
    past = event_rows.matching(event_rows.tournaments_past(), wanted, format_)
    page = page_of(request, past, _ROWS)
    context = {
        "coming": event_rows.matching(event_rows.tournaments_to_come(), wanted, format_)[:_ROWS],
        "page": page,
        "winners": event_rows.winners_of(page),
        "wanted": wanted,
        "format": format_,
        "formats": [("", "all formats"), *Tournament.Format.choices],
    }
    return render(request, "web/lists/events.html", context)
