"""The pages of a bot, one behind each tab: overview, matches, versions, statistics, management."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league import bots, feeds
from league.models import Bot, Standing
from league.ratings.standings import opponents, public_standing, standing_rows
from league.visibility import owns
from web import highlights
from web.bot_panels import (
    changes_by_version,
    first_blocks,
    importance,
    opponents_page,
    panel,
    place,
)
from web.bot_story import (
    clear_worst,
    even_shares,
    headline,
    next_step,
    owners_step,
    tournaments_of,
)
from web.requests import page_of, visitor
from web.selectors.bots import is_challengeable, last_challenges, last_faults, last_versions
from web.selectors.head_to_head import comparable, rivals
from web.selectors.matches import grouped, last_numbers, matches_of, matches_waiting, tagged

_LATEST = 5
_MATCHES = 25
_OPPONENTS = 20
_FAULTS_AMONG = 200
_VERSIONS = 10
_COMPARISONS = 5
_CHALLENGES = 5
_RIVALS = 3
_HIGHLIGHTS = 3


@require_safe
def overview(request: HttpRequest, name: str) -> HttpResponse:
    """Show where a bot stands, how it does, and what happened to it last."""
    found = _named(name)
    if found is None:
        return _renamed(name, "web:bot")
    places = [place(standing) for standing in _standings(found)]
    places.sort(key=lambda each: importance(each.row))
    unrated = first_blocks(found)
    entries = list(tournaments_of(found))
    rows = [each.row for each in places]
    context = _frame(request, found, "overview")
    online, owned = context["online"], context["owned"]
    versions = last_versions(found, _VERSIONS)
    waits = bool(unrated or entries)
    if owned:
        faults = last_faults(found, _FAULTS_AMONG)
        context["step"] = owners_step(found, versions, rows, faults, online=online, waits=waits)
    best, worst = rivals(found, _RIVALS)
    worst = clear_worst(best, worst)
    context |= {
        "headline": headline(found, rows, unrated),
        "places": places,
        "unrated": unrated,
        "next_step": ""
        if places or unrated
        else next_step(found, versions, online=online, owned=owned),
        "entries": entries,
        "best": best,
        "worst": worst,
        "even": even_shares(found, [*best, *worst]),
        "highlights": highlights.shown(feeds.highlights_of(found, _HIGHLIGHTS)),
        "matches": matches_of(last_numbers(found, _LATEST)),
        "offered": comparable(found),
    }
    return render(request, "web/bot/overview.html", context)


@require_safe
def matches(request: HttpRequest, name: str) -> HttpResponse:
    """Show the matches that a bot has played, how many wait, its faults and its challenges."""
    found = _named(name)
    if found is None:
        return _renamed(name, "web:bot-matches")
    page = page_of(request, last_numbers(found), _MATCHES)
    context = _frame(request, found, "matches") | {
        "page": page,
        "groups": grouped(tagged(matches_of(page))),
        "waiting": matches_waiting(found),
        "faults": last_faults(found, _FAULTS_AMONG),
        "challenges": last_challenges(found, _CHALLENGES),
    }
    return render(request, "web/bot/matches.html", context)


@require_safe
def versions(request: HttpRequest, name: str) -> HttpResponse:
    """Show the versions of a bot, what each did to its rating, and its comparisons."""
    found = _named(name)
    if found is None:
        return _renamed(name, "web:bot-versions")
    last = last_versions(found, _VERSIONS)
    changes = changes_by_version(_standings(found), last)
    context = _frame(request, found, "versions") | {
        "versions": [(version, changes.get(version.pk, [])) for version in last],
        "rated": bool(changes),
        "comparisons": found.comparisons.select_related("bot", "new", "old")[:_COMPARISONS],
    }
    return render(request, "web/bot/versions.html", context)


@require_safe
def statistics(request: HttpRequest, name: str) -> HttpResponse:
    """Show the numbers of a bot on each ladder: performance, habits, opponents, every change."""
    found = _named(name)
    if found is None:
        return _renamed(name, "web:bot-statistics")
    standings = _standings(found)
    rows = [row for each in standings for row in standing_rows(each.ladder, [each])]
    rows.sort(key=importance)
    ladders = [row.standing.ladder for row in rows]
    wanted = request.GET.get("ladder", "")
    chosen = next((each for each in ladders if each.slug == wanted), next(iter(ladders), None))
    panels = []
    for standing in standings:
        if standing.ladder != chosen:
            continue
        met = opponents(standing)
        page = page_of(request, met, _OPPONENTS, opponents_page(standing.ladder))
        panels.append(panel(standing, page))
    context = _frame(request, found, "statistics") | {
        "panels": panels,
        "choices": ladders if len(ladders) > 1 else [],
        "chosen": chosen,
        "headline": headline(found, rows, first_blocks(found)),
    }
    return render(request, "web/bot/statistics.html", context)


@login_required
@never_cache
def manage(request: HttpRequest, name: str) -> HttpResponse:
    """Show an owner what they can do with a bot: upload, compare, change settings, its token."""
    found = _named(name)
    if found is None:
        return _renamed(name, "web:bot-manage")
    context = _frame(request, found, "manage")
    if not context["owned"]:
        raise Http404
    context["versions"] = last_versions(found, 1)
    context["last"] = next(iter(last_numbers(found, 1)), None)
    return render(request, "web/bot/manage.html", context)


def _named(name: str) -> Bot | None:
    return Bot.objects.select_related("owner", "current").filter(name=name).first()


def _renamed(name: str, page: str) -> HttpResponse:
    """Redirect to the page of a bot that had another name before; raise `Http404` without one."""
    renamed = bots.find_renamed(name)
    if renamed is None:
        raise Http404
    return redirect(page, renamed.name, permanent=True)


def _standings(bot: Bot) -> list[Standing]:
    rows = bot.standings.select_related("ladder__anchor", "bot").order_by("ladder__slug")
    return [public_standing(row) for row in rows]


def _frame(request: HttpRequest, bot: Bot, tab: str) -> dict[str, Any]:
    """Return what the head and the tabs of each page of a bot show."""
    owned = bot.retired_at is None and owns(visitor(request), bot)
    context: dict[str, Any] = {
        "bot": bot,
        "tab": tab,
        "online": bots.is_online(bot, timezone.now()),
        "owned": owned,
        "challengeable": is_challengeable(bot, owned=owned),
    }
    if tab not in ("overview", "statistics"):
        rows = [row for each in _standings(bot) for row in standing_rows(each.ladder, [each])]
        rows.sort(key=importance)
        context["headline"] = headline(bot, rows, first_blocks(bot))
    return context
