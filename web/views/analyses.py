"""The page of the analysis of a match."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from league import analyses
from league.models import MatchAnalysis
from league.play.headlines import headline, seat_names
from web.analysis_page import analysis_page
from web.requests import SAFE_METHODS, whole_number
from web.selectors.matches import matches_with_seats
from web.throttled import limited


@limited("analyses")
@require_http_methods([*SAFE_METHODS, "POST"])
def analysis(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the analysis of a match, or how far it is; a POST asks for it."""
    match = get_object_or_404(matches_with_seats(), pk=pk)
    try:
        if request.method == "POST":
            analyses.ask(match=match)
            return _back(request, pk)
        found = analyses.find(match)
    except analyses.HiddenError:
        raise Http404(f"The record of match {pk} is not public yet.") from None
    names = seat_names(match)
    state = None if found is None else found.state
    context: dict[str, Any] = {
        "match": match,
        "headline": headline(match),
        "live": state == MatchAnalysis.State.WAITING,
        "failed": state == MatchAnalysis.State.FAILED,
        "show_all": request.GET.get("decisions") == "all",
    }
    result = None if found is None else analyses.result_of(found, match.record)
    if result is not None:
        context["page"] = analysis_page(match.record, result, names, show_all=context["show_all"])
    elif found is not None:
        context["done"] = found.moves_done
        context["moves"] = len(match.record.moves)
    return render(request, "web/analysis.html", context)


def _back(request: HttpRequest, pk: int) -> HttpResponse:
    """Return to the step of the match from which the analysis was asked for, or to its page."""
    step = whole_number(request.POST.get("step", ""))
    if step is None:
        return redirect("web:analysis", pk)
    return redirect(f"{reverse('web:match', args=[pk])}?step={step}#analysis")
