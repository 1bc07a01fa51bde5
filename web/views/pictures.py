"""Pictures of matches, bots, tournaments and other pages, for previews of links.

A picture is drawn from its SVG, and the hash of the SVG is its key: in the cache and as ETag. So a
picture changes exactly when something on it does.
"""

from hashlib import sha256

from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe

from league import analyses, bots
from league.accounts import throttles
from league.competitions import comparisons
from league.models import Bot, Comparison, Ladder, Tournament
from web.pictures.bots import bot_svg
from web.pictures.drawing import BusyError, as_png, site_svg
from web.pictures.events import ladder_svg, tournament_svg
from web.pictures.lists import list_svg
from web.pictures.results import analysis_svg, challenge_svg, comparison_svg
from web.pictures.tables import match_svg
from web.requests import whole_number
from web.selectors.bots import challenges_with_bots
from web.selectors.matches import matches_with_seats
from web.table.tables import table_of

_LIVE_SECONDS = 15
_CHANGING_SECONDS = 300
_SETTLED_SECONDS = 86_400
"""How long others may keep a picture: of a match in play, of a page that changes, and of a finished
match, in which only names can change."""


@require_safe
def match(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw the table of a match at the step that ``step`` names; without it, at the end."""
    table = table_of(get_object_or_404(matches_with_seats(), pk=pk))
    if table is None:
        raise Http404(f"Match {pk} has no picture now: its table is not public.")
    number = whole_number(request.GET.get("step", ""))
    seconds = _SETTLED_SECONDS if table.mode == "replay" else _LIVE_SECONDS
    return _drawn(request, match_svg(table, number), seconds)


@require_safe
def bot(request: HttpRequest, name: str) -> HttpResponse:
    """Draw a bot's name, its ranks and the chart of its rating."""
    found = Bot.objects.select_related("owner", "current").filter(name=name).first()
    if found is None:
        renamed = bots.find_renamed(name)
        if renamed is None:
            raise Http404
        return redirect("web:bot-picture", renamed.name, permanent=True)
    return _drawn(request, bot_svg(found), _CHANGING_SECONDS)


@require_safe
def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw a tournament's state and its bracket, the top of its standings, or its entries."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    return _drawn(request, tournament_svg(found), _CHANGING_SECONDS)


@require_safe
def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """Draw the top of a ladder's standings."""
    return _drawn(request, ladder_svg(get_object_or_404(Ladder, slug=slug)), _CHANGING_SECONDS)


@require_safe
def challenge(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw a challenge's state and its pair results."""
    found = get_object_or_404(challenges_with_bots(), pk=pk)
    return _drawn(request, challenge_svg(found), _CHANGING_SECONDS)


@require_safe
def comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw a comparison's verdict and its evidence."""
    versions = Comparison.objects.select_related("bot", "ladder", "new", "old")
    found = get_object_or_404(versions, pk=pk)
    svg = comparison_svg(found, comparisons.progress(found))
    return _drawn(request, svg, _CHANGING_SECONDS)


@require_safe
def analysis(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw the chances over a match, if its analysis is done."""
    match = get_object_or_404(matches_with_seats(), pk=pk)
    try:
        found = analyses.find(match)
    except analyses.HiddenError:
        raise Http404(f"The record of match {pk} is not public yet.") from None
    return _drawn(request, analysis_svg(match, found), _CHANGING_SECONDS)


@require_safe
def listed(request: HttpRequest, name: str) -> HttpResponse:
    """Draw the first rows of a list."""
    return _drawn(request, list_svg(name), _CHANGING_SECONDS)


@require_safe
def site(request: HttpRequest) -> HttpResponse:
    """Draw the picture of the pages that have none of their own."""
    return _drawn(request, site_svg(), _SETTLED_SECONDS)


def _drawn(request: HttpRequest, svg: str, seconds: int) -> HttpResponse:
    """Return a picture as PNG: from the cache, or drawn if the client has not drawn too many."""
    key = sha256(svg.encode()).hexdigest()
    etag = f'"{key}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        data = caches["pictures"].get(key)
        if data is None:
            usage = throttles.count("pictures", throttles.client_by_request(request))
            if usage is not None and usage.is_exceeded:
                return _refusal(usage)
            try:
                data = as_png(svg)
            except BusyError:
                return _busy()
            caches["pictures"].set(key, data)
        response = HttpResponse(data, content_type="image/png")
    response["ETag"] = etag
    patch_cache_control(response, public=True, max_age=seconds)
    return response


def _busy() -> HttpResponse:
    text = "Many pictures are being drawn. Try again in 5 s.\n"
    headers = {"Retry-After": "5", "Cache-Control": "no-store"}
    return HttpResponse(text, "text/plain; charset=utf-8", status=503, headers=headers)


def _refusal(usage: throttles.Usage) -> HttpResponse:
    text = f"{usage.refusal}\n"
    headers = {**usage.headers, "Cache-Control": "no-store"}
    return HttpResponse(text, "text/plain; charset=utf-8", status=429, headers=headers)
