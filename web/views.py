"""The pages that everybody may read: fetch what is asked for and render it."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from engine.pairing import rounds_opened
from league.bots import is_online
from league.competitions import comparisons
from league.competitions.history import history_of
from league.competitions.tournament_standings import bracket_of, standings_of
from league.models import Bot, Comparison, Ladder, Match, Round, Tournament
from league.models.ladders import Hidden
from league.play.owner_reports import owner_report
from league.play.spectating import public_view, record_line
from league.ratings.hiding import SHOWN
from league.ratings.match_results import k_schedule
from league.ratings.standings import RANKED_FROM, TREND_ROUNDS, standing_shown
from league.ratings.twins import twin_gaps
from league.visibility import may_see_record, owns
from web import selectors, tournament_page
from web.charts import chart
from web.crosstables import cross_table
from web.intervals import add_bars
from web.panels import panel
from web.rating_charts import chart_of_ladder
from web.table.live import live_steps
from web.table.replays import Step, steps

_ROWS = 50
_ROUNDS = 10
_BLOCKS = 20
_FAULTS_AMONG = 200
_CROSSED = 12
_PLAYING = 6


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is, and what is going on."""
    coming = list(selectors.tournaments_to_come()[:6])
    playing = list(selectors.matches_playing(_PLAYING))
    latest = selectors.matches_shown().filter(status=Match.Status.FINISHED)
    context = {
        "playing": playing,
        "ladders": selectors.ladders_with_top(5),
        "coming": coming,
        "past": selectors.tournaments_past()[:4],
        "matches": latest.order_by("-finished_at")[:10],
        "fan": [12, 5, 0, 3, 1],
        "live": bool(playing)
        or any(tournament.state == Tournament.State.RUNNING for tournament in coming),
    }
    return render(request, "web/home.html", context)


@require_safe
def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings of a ladder and its last rounds."""
    found = get_object_or_404(Ladder.objects.select_related("anchor"), slug=slug)
    wanted = request.GET.get("q", "").strip()[:32]
    hidden = request.GET.get("hidden") == "1"
    page, rows = selectors.standings_page(
        found, wanted, request.GET.get("page"), _ROWS, hidden=hidden
    )
    shown_rows = [row for row in rows if row.hidden == SHOWN]
    top = shown_rows if page.number == 1 and not wanted else []
    rounds = _page(
        request, found.rounds.select_related("tournament").order_by("-number"), _ROUNDS, "rounds"
    )
    shown = list(rounds.object_list)
    selectors.add_block_counts(shown)
    context = {
        "ladder": found,
        "rows": rows,
        "groups": [
            ("ranked", [row for row in shown_rows if row.blocks_for_rank >= RANKED_FROM]),
            ("provisional", [row for row in shown_rows if row.blocks_for_rank < RANKED_FROM]),
            *((why, [row for row in rows if row.hidden == why]) for why in Hidden.values),
        ],
        "axis": add_bars(rows),
        "cross": cross_table(found, top[:_CROSSED]),
        "page": page,
        "wanted": wanted,
        "hidden": hidden,
        "rounds": rounds,
        "rounds_shown": shown,
        "ranked_from": RANKED_FROM,
        "trend_rounds": TREND_ROUNDS,
        "twins": twin_gaps(found),
        "schedule": k_schedule(found.k_schedule),
        "sum": selectors.sum_of_ratings(found),
        "revisions": found.revisions.order_by("-number") if found.revision > 1 else [],
        "chart": chart_of_ladder(found, [row.bot for row in top[:5]]),
    }
    return render(request, "web/ladder.html", context)


@require_safe
def bot(request: HttpRequest, name: str) -> HttpResponse:
    """A bot: where it stands, how it got there, and its last matches."""
    found = get_object_or_404(Bot.objects.select_related("owner", "current"), name=name)
    rows = found.standings.select_related("ladder__anchor", "bot").order_by("ladder__slug")
    context = {
        "bot": found,
        "online": is_online(found, timezone.now()),
        "panels": [panel(standing_shown(row)) for row in rows],
        "seats": selectors.results_of(found, 20),
        "faults": selectors.faults_of(found, _FAULTS_AMONG),
        "ranked_from": RANKED_FROM,
        "versions": selectors.versions_of(found, 10),
        "comparisons": found.comparisons.select_related("bot", "new", "old")[:5],
        "owned": owns(request.user, found),
    }
    return render(request, "web/bot.html", context)


@require_safe
def comparison(request: HttpRequest, pk: int) -> HttpResponse:
    """Whether a version is better than another: the path of the test so far."""
    found = get_object_or_404(
        Comparison.objects.select_related("bot__current", "ladder", "new", "old"), pk=pk
    )
    plan, steps = comparisons.plan_of(found), comparisons.steps(found)
    ratios = [0.0, *(step.llr for step in steps)]
    bounds = [("better", [plan.upper] * len(ratios)), ("not better", [plan.lower] * len(ratios))]
    context = {
        "comparison": found,
        "blocks": len(steps),
        "last": steps[-1] if steps else None,
        "plan": plan,
        "live": found.state == Comparison.State.RUNNING,
        "chart": chart([("LLR", ratios), *bounds], "0 blocks", f"{len(steps)} blocks"),
        "owned": owns(request.user, found.bot),
    }
    return render(request, "web/comparison.html", context)


@require_safe
def tournaments(request: HttpRequest) -> HttpResponse:
    """All tournaments: those to come, then those that are over."""
    context = {
        "coming": selectors.tournaments_to_come()[:_ROWS],
        "page": _page(request, selectors.tournaments_past()),
    }
    return render(request, "web/tournaments.html", context)


@require_safe
def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """A tournament: its times, how it stands, who met whom, and one of its rounds."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    history = history_of(found)
    placed = standings_of(history)
    named = tournament_page.rounds_named(history)
    selectors.add_block_counts(history.opened)
    shown = _round_shown(request, history.opened)
    finished = found.state == Tournament.State.FINISHED
    context: dict[str, Any] = {
        "tournament": found,
        "told": tournament_page.in_its_words(history),
        "standings": tournament_page.standings_told(placed),
        "bracket": bracket_of(history),
        "crossed": tournament_page.cross_table_told(history, placed),
        "rounds": [(at, *of) for at, of in enumerate(named, 1)],
        "opened": rounds_opened(history.rounds),
        "length": tournament_page.length_of(history),
        "shown": shown,
        "seed": bytes(found.seed).hex() if finished else None,
        "live": found.state in (Tournament.State.RUNNING, Tournament.State.ENTRIES_OPEN),
        "to_enter": selectors.bots_to_enter(request.user, found),
        "to_withdraw": selectors.bots_to_withdraw(request.user, history),
    }
    if shown:
        context["byes"] = tournament_page.byes_of(history, shown)
        context["blocks"] = _page(request, selectors.blocks_shown(shown), _BLOCKS)
    return render(request, "web/tournament.html", context)


@require_safe
def match(request: HttpRequest, pk: int) -> HttpResponse:
    """A match: who sits where, and step by step once everything about it may be known."""
    found, told = _match_and_steps(pk)
    context: dict[str, Any] = {
        "match": found,
        "seating": found.seating.all(),
        "open": bool(told),
        "live": not told and found.status != Match.Status.VOID,
    }
    if found.status == Match.Status.PLAYING:
        view = public_view(found)
        names = [seat.bot.name for seat in found.seating.all()]
        context["now"] = live_steps(view, names) if view else []
    if request.user.is_authenticated:
        context["reports"] = owner_report(found, request.user)
    if told:
        number = min(max(_number(request.GET.get("step", "1")), 1), len(told))
        points = [
            (seat.name, [seat.before, *(step.seats[at].points for step in told)])
            for at, seat in enumerate(told[0].seats)
        ]
        context |= {
            "step": told[number - 1],
            "number": number,
            "last": len(told),
            "groups": _grouped(told),
            "chart": chart(points, "deal", "end"),
        }
    return render(request, "web/match.html", context)


@require_safe
@gzip_page
def match_steps(request: HttpRequest, pk: int) -> HttpResponse:
    """Every step of an open match at once, for a browser to page through by itself."""
    found, told = _match_and_steps(pk)
    if not told:
        raise Http404(f"Match {found.pk} is not open yet.")
    response = render(request, "web/match_steps.html", {"steps": told})
    response["Cache-Control"] = "private, max-age=600"
    return response


@require_safe
@gzip_page
def record(request: HttpRequest, pk: int) -> HttpResponse:
    """The record of a match, to be checked by anyone."""
    found = get_object_or_404(Match.objects.select_related("block"), pk=pk)
    if not may_see_record(found):
        raise Http404(f"The record of match {pk} is not public yet.")
    response = HttpResponse(record_line(found) + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="match-{pk}.json"'
    return response


def _match_and_steps(pk: int) -> tuple[Match, list[Step]]:
    """Return a match with its seating and block, and its steps if it is open to all."""
    found = get_object_or_404(
        Match.objects.select_related(
            "block__round__tournament", "block__round__ladder"
        ).prefetch_related("seating__bot", "seating__version"),
        pk=pk,
    )
    if not may_see_record(found):
        return found, []
    return found, steps(found.record, [seat.bot.name for seat in found.seating.all()])


def _grouped(told: list[Step]) -> list[tuple[str, list[tuple[int, str, bool]]]]:
    """Return the steps' numbers, labels and whether they had faults, by group."""
    groups: dict[str, list[tuple[int, str, bool]]] = {}
    for number, step in enumerate(told, 1):
        groups.setdefault(step.group, []).append((number, step.label, step.has_faults))
    return list(groups.items())


def _round_shown(request: HttpRequest, rounds: list[Round]) -> Round | None:
    """Return the round asked for by its number in the tournament, else the last."""
    wanted = _number(request.GET.get("round", ""))
    if 1 <= wanted <= len(rounds):
        return rounds[wanted - 1]
    return rounds[-1] if rounds else None


def _page(request: HttpRequest, rows: Any, size: int = _ROWS, name: str = "page") -> Page[Any]:
    return Paginator(rows, size).get_page(request.GET.get(name))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
