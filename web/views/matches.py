"""The pages of a match: live, as a replay, all its phases at once, and its record."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from league.models import Match, MatchAnalysis, MatchSeat
from league.play.owner_reports import owner_report
from league.play.spectating import public_record_line
from league.visibility import may_see_record
from web import tv
from web.charts.lines import chart
from web.match_analysis import analysis_beside
from web.pictures.tables import picture_of
from web.play_forms import against_bots_of
from web.requests import visitor, whole_number
from web.selectors.matches import matches_with_seats, neighbour_matches
from web.table.steps import Step
from web.table.tables import all_phases, table_of


@require_safe
def match(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a match: its seats, its table while it is live, and the replay once it is open."""
    found = get_object_or_404(matches_with_seats(), pk=pk)
    number = whole_number(request.GET.get("step", ""))
    table = table_of(found, number or 1)
    is_open = table is not None and table.mode == "replay"
    context: dict[str, Any] = {
        "match": found,
        "seating": _by_place(found) if is_open else found.seating.all(),
        "table": table,
        "open": is_open,
        "picture": None if table is None else picture_of(table, number),
        # A table in play follows its own events; only a page without one must ask again.
        "live": table is None and found.status != Match.Status.VOID,
    }
    if context["live"]:
        context["meanwhile"] = tv.meanwhile(found)
    if (user := visitor(request)) is not None:
        context["reports"] = owner_report(found, user)
    if table is not None and is_open:
        points = [
            (seat.name, [seat.before, *(step.seats[seat.seat].points for step in table.steps)])
            for seat in table.steps[0].seats
        ]
        preceding, following = neighbour_matches(found)
        beside = analysis_beside(
            found,
            table.names,
            table.number,
            whole_number(request.GET.get("ply", "")),
            whole_number(request.GET.get("cards", "")),
        )
        context |= {
            "has_faults": any(seat.faults or seat.forfeited for seat in found.seating.all()),
            "groups": _grouped(table.steps),
            "chart": chart(points, "deal", "end", side_by_side=True),
            "preceding": preceding,
            "following": following,
            "beside": beside,
            # The page asks again until the analysis is there.
            "live": beside.state == MatchAnalysis.State.WAITING,
            "play_query": against_bots_of(found),
        }
    return render(request, "web/match.html", context)


@require_safe
@gzip_page
def match_phases(request: HttpRequest, pk: int) -> HttpResponse:
    """Return all phases of an open match as JSON, so that the browser can replay and check it."""
    found = get_object_or_404(matches_with_seats(), pk=pk)
    if not may_see_record(found):
        raise Http404(f"The record of match {found.pk} is not public yet.")
    response = JsonResponse(all_phases(found))
    response["Cache-Control"] = "private, max-age=600"
    return response


@require_safe
@gzip_page
def record(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the record of an open match, from which anyone can verify it."""
    found = get_object_or_404(Match.objects.select_related("block"), pk=pk)
    line = public_record_line(found)
    if line is None:
        raise Http404(f"The record of match {pk} is not public yet.")
    response = HttpResponse(line + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="match-{pk}.json"'
    return response


def _by_place(match: Match) -> list[MatchSeat]:
    """Return the seats of a finished match, the winner first."""
    return sorted(match.seating.all(), key=lambda seat: (seat.place or 0, seat.seat))


def _grouped(steps: list[Step]) -> list[tuple[str, list[tuple[int, str, bool]]]]:
    """Return number, label and "has faults" of each step, by group."""
    groups: dict[str, list[tuple[int, str, bool]]] = {}
    for number, step in enumerate(steps, 1):
        groups.setdefault(step.group, []).append((number, step.label, step.has_faults))
    return list(groups.items())
