"""The gallery of components, for organisers, and the data that its tables fetch."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from web import gallery
from web.requests import organiser_only
from web.table.tables import all_phases


@organiser_only
@require_safe
def components(request: HttpRequest) -> HttpResponse:
    """Show each component of `docs/design.md` in all its states."""
    return render(request, "web/organise/gallery.html", gallery.samples())


@organiser_only
@require_safe
def phases(request: HttpRequest, at: int) -> HttpResponse:
    """Return all phases of a sample match, for its table."""
    try:
        match = gallery.match_of(at)
    except IndexError:
        raise Http404(f"There is no sample {at}.") from None
    return JsonResponse(all_phases(match))


@organiser_only
@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """Return the stream of a live match in which nothing happens."""
    return HttpResponse("retry: 86400000\n\n", content_type="text/event-stream")
