"""The page of two bots: their results against each other."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from league import bots
from league.models import Bot
from web.requests import page_of
from web.selectors.head_to_head import last_meetings, matches_of, scores_by_ladder

_ROWS = 20


@require_safe
def against(request: HttpRequest, name: str, other: str) -> HttpResponse:
    """Show the score of a bot against another, by ladder, seat and version, and their matches."""
    bot, opponent = _named(name), _named(other)
    if (bot.name, opponent.name) != (name, other):
        return redirect("web:head-to-head", bot.name, opponent.name, permanent=True)
    met = last_meetings(bot, opponent)
    page = page_of(request, met.matches, _ROWS)
    context = {
        "bot": bot,
        "other": opponent,
        "ladders": (ladders := scores_by_ladder(bot, opponent)),
        "rated": [score for _, score in ladders],
        "met": met,
        "page": page,
        "matches": matches_of(page),
    }
    return render(request, "web/head_to_head.html", context)


def _named(name: str) -> Bot:
    """Return a bot by its name or a former name; raise `Http404` if there is none."""
    found = Bot.objects.filter(name=name).first() or bots.find_renamed(name)
    return found or get_object_or_404(Bot, name=name)
