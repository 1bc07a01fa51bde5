"""Lists with search: bots, matches, ladders and events."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engine.games.titles import GAME_TITLES
from league.feeds import last_highlights
from league.models import Highlight, Tournament
from web import highlights, ladder_story
from web.filters import Filters, filters_of
from web.requests import page_of, whole_number
from web.selectors import bots as bot_rows
from web.selectors import form
from web.selectors import ladders as ladder_rows
from web.selectors import matches as match_rows
from web.selectors import tournaments as event_rows

_ROWS = 25
_LADDERS = 20
_TOP = 5
_FEW = 5
"""A list with fewer rows has no search form."""
_HIGHLIGHTS = 3
_LAST_PAGE = 200
"""Matches have no page beyond this one: a search finds older ones."""
_KINDS = [
    ("", "all bots"),
    ("house", "house bots"),
    ("hosted", "hosted bots"),
    ("remote", "remote bots"),
]
_GAMES = [("", "both games"), *GAME_TITLES.items()]
_FORMATS = [("", "all formats"), *Tournament.Format.choices]


def _game(filters: Filters) -> str:
    return filters.choice("game", _GAMES)


@require_safe
def bots(request: HttpRequest) -> HttpResponse:
    """List bots with their ratings, the best first."""
    filters = filters_of(request)
    wanted, kind, game = filters.wanted, filters.choice("kind", _KINDS), _game(filters)
    sort = filters.choice("sort", {**bot_rows.SORTS, "rating": "best rating"}.items())
    sort = "" if sort == "rating" else sort
    page = page_of(request, bot_rows.bots_listed(wanted, kind, game, sort), _ROWS)
    standings = [row for bot in page for row in bot.standings.all()]
    is_front = page.number == 1 and not (wanted or kind or game or sort or filters.errors)
    has_best = is_front and page.paginator.count > 1
    context = {
        "best": bot_rows.best_of(page) if has_best else None,
        "page": page,
        "listed": bot_rows.in_columns(page),
        "forms": form.forms_of([bot.pk for bot in page]),
        "wanted": wanted,
        "errors": filters.errors,
        "kind": kind,
        "kinds": _KINDS,
        "game": game,
        "games": _GAMES,
        "sort": sort,
        "sorts": bot_rows.SORTS.items(),
        "mostly_provisional": ladder_rows.mostly_provisional(standings),
        "ranked_from": sorted({row.ranked_from for row in standings}),
    }
    return render(request, "web/lists/bots.html", context, status=filters.status)


def _unlike(best: list[Highlight]) -> list[Highlight]:
    """Return highlights without those that have the kind and the bots of the first one."""
    return best[:1] + [each for each in best[1:] if _what(each) != _what(best[0])]


def _what(highlight: Highlight) -> tuple[str, frozenset[int | None]]:
    return highlight.kind, frozenset((highlight.bot_id, highlight.opponent_id))


@require_safe
def matches(request: HttpRequest) -> HttpResponse:
    """List the matches that began last, by bot, game and state."""
    filters = filters_of(request)
    wanted, game = filters.wanted, _game(filters)
    state = filters.choice("state", match_rows.STATES.items())
    number = min(max(whole_number(request.GET.get("page", "")) or 1, 1), _LAST_PAGE)
    found = match_rows.matches_found(wanted, game, state)
    # One row more than a page shows whether there is a next page; to count all rows takes long.
    rows = list(found[(number - 1) * _ROWS : number * _ROWS + 1])
    is_front = number == 1 and not (wanted or game or state or filters.errors)
    best = highlights.shown(_unlike(last_highlights())[: _HIGHLIGHTS + 1]) if is_front else []
    context = {
        "headline": best[0] if best else None,
        "highlights": best[1:],
        "groups": match_rows.grouped(match_rows.tagged(rows[:_ROWS])),
        "coming": match_rows.next_start()
        if state == "playing" and not rows and number == 1
        else None,
        "previous": number - 1,
        "next": number + 1 if len(rows) > _ROWS and number < _LAST_PAGE else None,
        "wanted": wanted,
        "errors": filters.errors,
        "game": game,
        "games": _GAMES,
        "state": state,
        "states": match_rows.STATES.items(),
        "live": state == "playing",
    }
    return render(request, "web/lists/matches.html", context, status=filters.status)


@require_safe
def ladders(request: HttpRequest) -> HttpResponse:
    """List the ladders, each with its best bots."""
    filters = filters_of(request)
    wanted, game = filters.wanted, _game(filters)
    number = request.GET.get("page")
    page = Paginator(ladder_rows.ladders_named(wanted, game), _LADDERS).get_page(number)
    tops = ladder_rows.with_movement(list(page), _TOP)
    filtered = bool(wanted or game or filters.errors)
    context = {
        "page": page,
        "tops": [(top, ladder_story.of(top)) for top in tops],
        "headline": "" if filtered or page.has_other_pages() else ladder_story.headline(tops),
        "searched": filtered or page.paginator.count >= _FEW,
        "wanted": wanted,
        "errors": filters.errors,
        "game": game,
        "games": _GAMES,
    }
    return render(request, "web/lists/ladders.html", context, status=filters.status)


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """List the running and planned tournaments, then those that are over."""
    filters = filters_of(request)
    wanted, format_ = filters.wanted, filters.choice("format", _FORMATS)
    past = event_rows.matching(event_rows.tournaments_past(), wanted, format_)
    page = page_of(request, past, _ROWS)
    planned = event_rows.matching(event_rows.tournaments_to_come(), wanted, format_)
    coming = page_of(request, planned, _ROWS, "coming")
    filtered = bool(wanted or format_ or filters.errors)
    winners = event_rows.winners_of(page)
    last = next((one for one in page if one.state == Tournament.State.FINISHED), None)
    is_front = page.number == coming.number == 1 and not filtered
    context = {
        "coming": coming,
        "page": page,
        "winners": winners,
        "leads": event_rows.leads_of(coming),
        "last": last if is_front and last is not None and last.pk in winners else None,
        "next": next((one for one in coming if one.starts_at > timezone.now()), None),
        "searched": filtered or page.paginator.count + coming.paginator.count >= _FEW,
        "wanted": wanted,
        "errors": filters.errors,
        "format": format_,
        "formats": _FORMATS,
    }
    return render(request, "web/lists/events.html", context, status=filters.status)
