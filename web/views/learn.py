"""The learn pages: the games with pictures, and a first match with a guide."""

from dataclasses import asdict

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from web import guide
from web.learn import LESSONS, Lesson, examples, front_example
from web.views import players


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    """Show both games, each with a picture, and the way from the rules to a bot."""
    lessons = [
        asdict(each) | {"title": each.title, "example": front_example(each.game)}
        for each in LESSONS.values()
    ]
    context = {"lessons": lessons, "may_try": settings.TRY_IN_BROWSER}
    return render(request, "web/learn/front.html", context)


@require_safe
def lesson(request: HttpRequest, game: str) -> HttpResponse:
    """Show a game's rules with pictures of an example match."""
    context = {
        "lesson": _find(game),
        "lessons": LESSONS.values(),
        "examples": examples(game),
        "may_try": settings.TRY_IN_BROWSER,
    }
    return render(request, "web/learn/lesson.html", context)


@require_POST
@never_cache
def first_match(request: HttpRequest, game: str) -> HttpResponse:
    """Start a match against house bots as `players.new_table` does, with the guide switched on."""
    sent = request.POST.copy()
    sent["game"] = _find(game).first_match
    request.POST = sent  # type: ignore[assignment]
    response = players.new_table(request)
    if response.status_code == 302:
        _remember_guide(request, response, response["Location"], on=True)
    return response


@require_POST
@never_cache
def switch_guide(request: HttpRequest, code: str) -> HttpResponse:
    """Switch the guide of a table on or off, for this browser."""
    response = redirect("web:table", code)
    place = reverse("web:table", args=[code])
    _remember_guide(request, response, place, on=request.POST.get("guide") == "on")
    return response


def _remember_guide(request: HttpRequest, response: HttpResponse, place: str, *, on: bool) -> None:
    """Set the guide's cookie for the address of a table."""
    response.set_cookie(
        guide.COOKIE,
        "on" if on else "off",
        max_age=settings.PLAYER_MATCH_DAYS * 86_400,
        path=place,
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _find(game: str) -> Lesson:
    if game not in LESSONS:
        raise Http404("There is no such game.")
    return LESSONS[game]
