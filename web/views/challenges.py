"""The pages of challenges: an unrated block against bots that somebody names."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league import bots, competitions
from league.competitions import challenges
from league.models import Bot, Challenge
from league.visibility import may_see_record, owns
from web.forms import ChallengeForm, add_errors, status_of
from web.highlights import shown_deciding_step
from web.requests import signed_in
from web.result_story import (
    challenge_headline,
    challenge_result,
    challenge_state,
    first_lost,
    shared_first_places,
)
from web.selectors.bots import challenges_with_bots

_OPEN = (Challenge.State.WAITING, Challenge.State.PLAYING)


@require_safe
def challenge(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a challenge: how far it is, its pair results and its matches."""
    found = get_object_or_404(challenges_with_bots(), pk=pk)
    result = challenges.result(found)
    lost = first_lost(found, result)
    context = {
        "challenge": found,
        "lost": shown_deciding_step(lost) if lost is not None and may_see_record(lost) else None,
        "shared": shared_first_places(found, result),
        "names": challenge_headline(found),
        "headline": challenge_result(found, result),
        "description": challenge_state(found, result),
        "seats": found.bots.all(),
        "result": result,
        "playing": sum(match.status == match.Status.PLAYING for match in result.matches),
        "void_reason": next((m.void_reason for m in result.matches if m.void_reason), ""),
        "live": result.state in _OPEN,
    }
    return render(request, "web/challenge.html", context)


@login_required
@never_cache
def new_challenge(request: HttpRequest, name: str) -> HttpResponse:
    """Start a challenge with a bot of one's own, or against somebody else's bot."""
    found = Bot.objects.active().filter(name=name).first()
    if found is None:
        renamed = bots.find_renamed(name)
        if renamed is None:
            raise Http404
        return redirect("web:new-challenge", renamed.name, permanent=True)
    user = signed_in(request)
    form = ChallengeForm(user, found, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = competitions.challenge(owner=user, **form.challenge())
        except ValidationError as error:
            add_errors(form, error)
        else:
            return redirect("web:challenge", made.pk)
    context: dict[str, Any] = {"bot": found, "form": form, "owned": owns(user, found)}
    return render(request, "web/new_challenge.html", context, status=status_of(form))
