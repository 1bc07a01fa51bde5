"""The pages of a ladder: its standings, one of its rounds, and its fair play."""

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from league import accounts, competitions
from league.competitions.settings_checks import k_problems
from league.feeds import last_highlights
from league.models import Block, Ladder, Round, Standing
from league.models.standings import SHOWN, Hidden
from league.ratings.fair_play import fair_play_report
from league.ratings.ledger import revision_of, revisions_of
from league.ratings.luck_counts import last_luck_count
from league.ratings.match_results import k_schedule
from league.ratings.standings import TREND_ROUNDS, StandingRow
from league.ratings.twins import twins_on
from league.visibility import public_seed
from web import highlights, ladder_story
from web.charts import sparks
from web.charts.cross_tables import cross_table
from web.charts.intervals import with_intervals
from web.charts.ratings import chart_of_gap, chart_of_ladder
from web.requests import organiser_only, page_of, whole_number
from web.selectors import rounds
from web.selectors.ladders import bot_ahead, likely_best, of_ladder, standings_page, sums_of
from web.selectors.luck import noise_of, twin_errors

_STANDINGS = 50
_ROUNDS = 10
_BLOCKS = 20
_CHANGES = 100
_CROSSED = 12
_TO_WATCH = 2
_LIKELY_BEST = 3
_DRAWN = 5
_ALL_DRAWN = 8
"""If at most this number of bots is shown, the chart draws all, else the first `_DRAWN`."""


@require_safe
def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the standings of a ladder; with ``view=statistics``, how they came about too."""
    found = get_object_or_404(Ladder.objects.select_related("anchor"), slug=slug)
    wanted = request.GET.get("q", "").strip()[:32]
    hidden = request.GET.get("hidden") == "1"
    statistics = request.GET.get("view") == "statistics"
    page, rows = standings_page(found, wanted, request.GET.get("page"), _STANDINGS, hidden=hidden)
    intervals, axis = with_intervals([row.standing for row in rows])
    groups = _grouped(rows)
    is_first_page = page.number == 1 and not wanted
    shown = [row.standing for row in rows if row.standing.hidden == SHOWN]
    top = shown if is_first_page else []
    leaders, ahead = groups[0][1][:2], bot_ahead(found)
    context = {
        "ladder": found,
        "headline": ladder_story.of_page(found, leaders, ahead) if is_first_page else found.title,
        "statistics": statistics,
        "rows": rows,
        "groups": [
            (name, [(row, intervals[row.standing.bot_id]) for row in group])
            for name, group in groups
        ],
        "leaders": leaders if is_first_page else [],
        "ahead": ahead if is_first_page else None,
        "axis": axis,
        "page": page,
        "wanted": wanted,
        "hidden": hidden,
        "trend_rounds": TREND_ROUNDS,
        "asides": competitions.rows_aside(found) if accounts.is_organiser(request.user) else [],
        "sums": sums_of(found),
        "chart": chart_of_ladder(
            found, [row.bot for row in (top if len(top) <= _ALL_DRAWN else top[:_DRAWN])]
        ),
    }
    if statistics:
        context |= _statistics(request, found, top)
    else:
        if is_first_page:
            best = [each for each in last_highlights() if each.game == found.game]
            context["to_watch"] = highlights.shown(of_ladder(best, found)[:_TO_WATCH])
        context["spark_rounds"] = sparks.ROUNDS
        context["sparks"] = sparks.sparks_of(found, [row.standing.bot_id for row in rows])
    return render(request, "web/ladder.html", context)


def _statistics(request: HttpRequest, found: Ladder, top: list[Standing]) -> dict[str, object]:
    """Return what the page shows statisticians only: bands, cross table, rounds, sums."""
    rounds_page = page_of(
        request,
        found.rounds.select_related("tournament", "placed").order_by("-number"),
        _ROUNDS,
        "rounds",
    )
    progress = rounds.progress_of(rounds_page)
    return {
        "likely_best": likely_best(found, _LIKELY_BEST),
        "cross": cross_table(found, top[:_CROSSED]),
        "rounds": rounds_page,
        "rounds_shown": [(each, progress[each.pk]) for each in rounds_page],
        "twins": twins_on(found),
        "schedule": None if k_problems(found.k_schedule) else k_schedule(found.k_schedule),
        "revisions": revisions_of(found).reverse() if found.revision > 1 else [],
    }


@require_safe
def ladder_round(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show a round of a ladder with its changes of ratings, by default as last corrected."""
    found = get_object_or_404(Ladder, slug=slug)
    round_ = get_object_or_404(
        found.rounds.select_related("tournament", "placed", "superseded_by"), number=number
    )
    revision = _revision(request, found)
    in_force = revision_of(round_, found, revision)
    changes = round_.ledger.filter(revision=in_force).select_related("bot")
    blocks = _blocks_page(request, round_)
    context = {
        "ladder": found,
        "round": round_,
        "progress": rounds.progress_of([round_])[round_.pk],
        "rows": page_of(request, changes.order_by("-rating_after"), _CHANGES, "bots"),
        "blocks": blocks,
        "changes": rounds.changes_by_block(list(blocks), in_force),
        "seed": public_seed(round_),
        "schedule": k_schedule(round_.k_schedule),
        "revision": revision,
        "in_force": in_force,
        "revisions": revisions_of(found) if found.revision > 1 else [],
    }
    return render(request, "web/round.html", context)


@require_safe
def luck(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how much of a ladder's numbers is luck."""
    found = get_object_or_404(Ladder, slug=slug)
    count = last_luck_count(found)
    errors = twin_errors(count)
    context = {
        "ladder": found,
        "count": count,
        "pairs": [
            (twins, chart_of_gap(found, twins), errors.get(twins.bot.pk))
            for twins in twins_on(found)
        ],
        "noise": noise_of(found, count),
    }
    return render(request, "web/luck.html", context)


@organiser_only
def fair_play(request: HttpRequest, slug: str) -> HttpResponse:
    """Show organisers the pairs of bots that gain more next to each other than expected."""
    found = get_object_or_404(Ladder, slug=slug)
    context = {"ladder": found, "report": fair_play_report(found)}
    return render(request, "web/fair_play.html", context)


def _grouped(rows: list[StandingRow]) -> list[tuple[str, list[StandingRow]]]:
    """Return standings by group: ranked, provisional, and each reason to hide a bot."""
    shown = [row for row in rows if row.standing.hidden == SHOWN]
    return [
        ("ranked", [row for row in shown if not row.standing.is_provisional]),
        ("provisional", [row for row in shown if row.standing.is_provisional]),
        *((why, [row for row in rows if row.standing.hidden == why]) for why in Hidden.values),
    ]


def _blocks_page(request: HttpRequest, round_: Round) -> Page[Block]:
    """Return the page of blocks that has a number, or else that holds the block with a number."""
    found = rounds.blocks_of(round_)
    block = whole_number(request.GET.get("block", ""))
    if block is None or "page" in request.GET:  # the links from page to page keep the block
        return page_of(request, found, _BLOCKS)
    before = round_.blocks.filter(number__lt=block).count()
    return Paginator(found, _BLOCKS).get_page(before // _BLOCKS + 1)


def _revision(request: HttpRequest, ladder: Ladder) -> int:
    text = request.GET.get("revision", "")
    if not text:
        return ladder.revision
    number = whole_number(text)
    if number is None or not 1 <= number <= ladder.revision:
        raise Http404(f"The ladder {ladder.slug} has only the revisions 1 to {ladder.revision}.")
    return number
