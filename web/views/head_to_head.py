"""The page of two bots: their results against each other, and the way to it by a name."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from league import bots
from league.models import Bot
from league.visibility import owns
from web.highlights import Shown, shown_deciding_step
from web.meeting_story import story
from web.requests import bot_or_404, page_of, visitor
from web.selectors.bots import is_challengeable
from web.selectors.form import forms_of
from web.selectors.head_to_head import (
    common_places,
    comparable,
    games_of,
    last_meetings,
    scores_by_ladder,
    total,
)
from web.selectors.matches import matches_listed, matches_of

_ROWS = 10
_LADDERS = 2
_STRIP = 60
"""So many results are in the strip."""


@require_safe
def against(request: HttpRequest, name: str, other: str) -> HttpResponse:
    """Show how a bot does against another: in a sentence, over time, by seat, game and version.

    The page of the same two in the other order shows the same matches from the other side.
    """
    bot, opponent = bot_or_404(name), bot_or_404(other)
    if (bot.name, opponent.name) != (name, other):
        return redirect("web:head-to-head", bot.name, opponent.name, permanent=True)
    if bot == opponent:
        return redirect("web:bot", bot.name)
    met = last_meetings(bot, opponent)
    ladders = scores_by_ladder(bot, opponent)
    rated = [score for _, score in ladders]
    page = page_of(request, met.matches, _ROWS)
    by_match = {one.match: one for one in met.results}
    extremes = []
    if found := met.extremes:
        shown = matches_listed().defer(None)  # with records, for the pictures
        matches = shown.in_bulk([one.match for one in found])
        extremes = [
            (label, _as_duel(step, bot, opponent, one.score))
            for label, one in zip(("Most one-sided", "Closest"), found, strict=True)
            if (step := shown_deciding_step(matches[one.match])) is not None
        ]
    score = total(rated) or total(met.seats)
    result_story = story(bot, opponent, score, rated=bool(rated))
    owned = owns(visitor(request), bot)
    to_challenge = opponent if owned else bot
    forms = forms_of([bot.pk, opponent.pk])
    context = {
        "bot": bot,
        "other": opponent,
        "pair": [bot, opponent],
        "places": common_places(bot, opponent, _LADDERS),
        "forms": [forms.get(each.pk) for each in (bot, opponent)] if forms else [],
        "story": result_story,
        "ladders": ladders,
        "rated": rated,
        "met": met,
        "strip": met.results[:_STRIP][::-1],
        "extremes": extremes,
        "page": page,
        "matches": [(match, by_match[match.pk]) for match in matches_of(page)],
        "to_challenge": to_challenge if is_challengeable(to_challenge, owned=False) else None,
        "owned": owned or owns(visitor(request), opponent),
        "offered": [] if met.results else comparable(bot),
    }
    return render(request, "web/head_to_head.html", context)


def _as_duel(shown: Shown, bot: Bot, other: Bot, score: str) -> Shown:
    """Return a match of two bots with their score as its sentence."""
    others = [name for name in shown.others if name not in (bot.name, other.name)]
    return shown._replace(sentence=f"{bot.name} {score} {other.name}", others=others)


@require_safe
def choose(request: HttpRequest, name: str) -> HttpResponse:
    """Lead to the page of a bot and a named one; or state why they cannot be compared."""
    bot = bot_or_404(name)
    wanted = request.GET.get("with", "").strip().lower()
    other = bots.find_by_name(wanted)
    if other is None:
        wrong = f"There is no bot {wanted}." if wanted else ""
    elif other == bot:
        wrong = f"This is {bot.name} itself. Name another bot."
    elif games_of(bot) & games_of(other) or last_meetings(bot, other).results:
        return redirect("web:head-to-head", bot.name, other.name)
    else:
        wrong = (
            f"{other.name} and {bot.name} can't be compared: they are not on ladders of the same "
            "game. Name another bot."
        )
    context = {"bot": bot, "wanted": wanted[:32], "wrong": wrong, "offered": comparable(bot)}
    return render(request, "web/compare_bots.html", context)
