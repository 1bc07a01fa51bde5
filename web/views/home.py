"""The home page, the wall of tables, and further tables for both."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.feeds import last_ends, last_highlights
from league.feeds.items import sentence
from league.models import FeedItem, Tournament
from web import highlights, tv
from web.news import link_of
from web.requests import visitor, whole_number
from web.selectors import ladders, matches, own, tournaments

_PLAYING = 6
_LATEST = 8
_HIGHLIGHTS = 4
_COMING = 6
_LADDERS = 6
_TOP = 5
_WALL = 9
_REPLAYS = 4
_ENDS = 2
_OWN_PLACES = 4
_MORE = 3
_NEXT = 3
_OWN_NEWS = 3
_BUSY_SECONDS, _QUIET_SECONDS = 5, 30
"""The pause between two updates of the lists. Without JavaScript the page loads less often."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the league: one table, highlights, the best bots, next events, how to take part.

    A person who is signed in first sees their own bots' places, and news of what they follow.
    """
    coming = list(tournaments.tournaments_to_come()[:_COMING])
    playing = list(matches.matches_playing(_PLAYING))
    todays = last_highlights()
    channels = tv.channels(1, replays=1, known=todays)
    latest = list(matches.matches_finished(_LATEST + _HIGHLIGHTS + 3))
    on_page: set[int | None] = {channel.table.match.pk for channel in channels}
    others = [highlight for highlight in todays if highlight.match_id not in on_page]
    cards = highlights.shown(others[:_HIGHLIGHTS])
    on_page |= {each.match for each in cards}
    cards += highlights.just_finished(latest, on_page)
    on_page |= {each.match for each in cards}
    is_running = any(tournament.state == Tournament.State.RUNNING for tournament in coming)
    is_busy = bool(playing) or is_running
    context = {
        "channels": channels,
        "highlights": cards,
        "day": todays[0].day if todays else None,
        "playing": playing,
        "ladders": ladders.ladders_with_movement(_LADDERS, _TOP),
        "coming": coming,
        "leads": tournaments.leads_of(coming),
        "ends": _with_links(last_ends(_ENDS)),
        "matches": matches.tagged([match for match in latest if match.pk not in on_page][:_LATEST]),
        "live": True,
        "live_seconds": _BUSY_SECONDS if is_busy else _QUIET_SECONDS,
        "reload_seconds": 3 * _BUSY_SECONDS if is_busy else 2 * _QUIET_SECONDS,
    }
    person = visitor(request)
    if person is not None:
        context["places"] = own.places_of(person, _OWN_PLACES)
        context["news"] = _with_links(own.news_of(person, _OWN_NEWS))
    return render(request, "web/home.html", context)


def _with_links(items: list[FeedItem]) -> list[tuple[FeedItem, str, str]]:
    return [(item, sentence(item), link_of(item)) for item in items]


@require_safe
def wall(request: HttpRequest) -> HttpResponse:
    """Show up to nine live tables, or replays of recent highlights if none is live."""
    todays = last_highlights()
    found = tv.channels(_WALL, replays=_REPLAYS, known=todays)
    on_wall = {channel.table.match.pk for channel in found}
    more = [each for each in todays if each.match_id not in on_wall]
    context = {
        "channels": found,
        "count": _WALL,
        "highlights": highlights.shown(more[:_MORE]),
        "coming": tournaments.tournaments_to_come()[:_NEXT],
    }
    return render(request, "web/tv.html", context)


@require_safe
@never_cache
def tables(request: HttpRequest) -> HttpResponse:
    """Return further tables as a part of a page: ``count`` live ones without those in ``not``.

    If none is live, it is up to ``replays`` replays. They come after the match ``after`` in turn.
    """
    asked = {
        name: whole_number(request.GET.get(name, "")) or 0 for name in ("count", "replays", "after")
    }
    shown = {whole_number(text) for text in request.GET.getlist("not")[: 2 * _WALL]}
    found = tv.channels(
        min(max(asked["count"], 1), _WALL),
        replays=min(asked["replays"], _REPLAYS),
        shown={pk for pk in shown if pk},
        after=asked["after"],
    )
    return render(request, "web/parts/tv_tables.html", {"channels": found})
