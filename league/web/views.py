"""The pages: fetch what is asked for and render it."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from engine.record import write
from league.events.results import tournament_standings
from league.models import Ladder, Match, Tournament
from league.play.watching import is_open_to_all
from league.web.replays import steps

_ROWS = 50


def home(request: HttpRequest) -> HttpResponse:
    """What this is, and what is going on."""
    ladders = [
        (ladder, ladder.standings.select_related("bot").order_by("-rating", "bot")[:5])
        for ladder in Ladder.objects.all()
    ]
    context = {
        "ladders": ladders,
        "tournaments": Tournament.objects.select_related("ladder")[:6],
        "matches": Match.objects.filter(status="finished")
        .order_by("-finished_at")
        .prefetch_related("seating__bot")[:8],
    }
    return render(request, "league/home.html", context)


def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings of a ladder."""
    found = get_object_or_404(Ladder, slug=slug)
    standings = found.standings.select_related("bot__owner").order_by("-rating", "bot")
    page = Paginator(standings, _ROWS).get_page(request.GET.get("page"))
    rounds = found.rounds.select_related("tournament").order_by("-number")[:20]
    context = {"ladder": found, "page": page, "rounds": rounds}
    return render(request, "league/ladder.html", context)


def tournaments(request: HttpRequest) -> HttpResponse:
    """All tournaments, the next first."""
    page = Paginator(Tournament.objects.select_related("ladder"), _ROWS)
    context = {"page": page.get_page(request.GET.get("page"))}
    return render(request, "league/tournaments.html", context)


def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """A tournament: who plays, how it stands, every match."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    matches = (
        Match.objects.filter(block__round__tournament=found)
        .select_related("block__round")
        .prefetch_related("seating__bot")
        .order_by("block__round__number", "block__number", "number")
    )
    context = {
        "tournament": found,
        "standings": tournament_standings(found),
        "entries": found.entries.select_related("bot").order_by("bot__name"),
        "matches": matches,
        "seed": bytes(found.seed).hex() if found.state == "finished" else "",
        "running": found.state in ("announced", "open", "running"),
    }
    return render(request, "league/tournament.html", context)


def match(request: HttpRequest, pk: int) -> HttpResponse:
    """A match: who sits where, and step by step once everything about it may be known."""
    found = get_object_or_404(Match.objects.select_related("block__round__tournament"), pk=pk)
    seating = list(found.seating.select_related("bot").order_by("seat"))
    context = {"match": found, "seating": seating, "open": is_open_to_all(found)}
    if context["open"]:
        told = steps(found.record)
        number = _step_number(request, len(told))
        step = told[number - 1]
        context |= {
            "step": step,
            "number": number,
            "last": len(told),
            "seats": [
                (seat, hand, points)
                for seat, hand, points in zip(seating, step.hands, step.points, strict=True)
            ],
            "faults": found.record.faults,
        }
    return render(request, "league/match.html", context)


def record(request: HttpRequest, pk: int) -> HttpResponse:
    """The record of a match, to be checked by anyone."""
    found = get_object_or_404(Match.objects.select_related("block"), pk=pk)
    if not is_open_to_all(found):
        raise Http404("The record is not public before the end.")
    return HttpResponse(write(found.record) + "\n", content_type="application/json")


def _step_number(request: HttpRequest, last: int) -> int:
    wanted = request.GET.get("step", "1")
    return min(max(int(wanted), 1), last) if wanted.isascii() and wanted.isdigit() else 1
