"""The pages of a match: live, as a replay, all its steps at once, and its record."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from league.models import Match
from league.play.owner_reports import owner_report
from league.play.spectating import public_events, record_line
from league.visibility import may_see_record
from web.charts.lines import chart
from web.requests import visitor, whole_number
from web.selectors.matches import matches_with_seats
from web.table.live import live_steps
from web.table.replays import replay_steps
from web.table.steps import Step


@require_safe
def match(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a match: its seats, the last steps while it is live, and the replay once it is open."""
    found = get_object_or_404(matches_with_seats(), pk=pk)
    steps = _replay(found)
    context: dict[str, Any] = {
        "match": found,
        "seating": found.seating.all(),
        "open": bool(steps),
        "live": not steps and found.status != Match.Status.VOID,
    }
    if (phases := public_events(found)) is not None:
        context["now"] = live_steps(phases, _names(found))
    if (user := visitor(request)) is not None:
        context["reports"] = owner_report(found, user)
    if steps:
        number = min(max(whole_number(request.GET.get("step", "")) or 1, 1), len(steps))
        points = [
            (seat.name, [seat.before, *(step.seats[seat.seat].points for step in steps)])
            for seat in steps[0].seats
        ]
        context |= {
            "step": steps[number - 1],
            "number": number,
            "last": len(steps),
            "groups": _grouped(steps),
            "chart": chart(points, "deal", "end"),
        }
    return render(request, "web/match.html", context)


@require_safe
@gzip_page
def match_steps(request: HttpRequest, pk: int) -> HttpResponse:
    """Return every step of an open match at once, so that the browser can show any of them."""
    found = get_object_or_404(matches_with_seats(), pk=pk)
    steps = _replay(found)
    if not steps:
        raise Http404(f"Match {found.pk} is not open yet.")
    response = render(request, "web/match_steps.html", {"steps": steps})
    response["Cache-Control"] = "private, max-age=600"
    return response


@require_safe
@gzip_page
def record(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the record of an open match, from which anyone can verify it."""
    found = get_object_or_404(Match.objects.select_related("block"), pk=pk)
    if not may_see_record(found):
        raise Http404(f"The record of match {pk} is not public yet.")
    response = HttpResponse(record_line(found) + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="match-{pk}.json"'
    return response


def _names(match: Match) -> list[str]:
    """Return the names of the bots, by seat."""
    return [seat.bot.name for seat in match.seating.all()]


def _replay(match: Match) -> list[Step]:
    """Return the steps of a match that is open to all; none of any other match."""
    return replay_steps(match.record, _names(match)) if may_see_record(match) else []


def _grouped(steps: list[Step]) -> list[tuple[str, list[tuple[int, str, bool]]]]:
    """Return number, label and "has faults" of each step, by group."""
    groups: dict[str, list[tuple[int, str, bool]]] = {}
    for number, step in enumerate(steps, 1):
        groups.setdefault(step.group, []).append((number, step.label, step.has_faults))
    return list(groups.items())
