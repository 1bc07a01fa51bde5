"""Write a bot in the browser: the editor, a trial in the sandbox, and the upload of the file."""

from collections.abc import Mapping
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST, require_safe

from bots_sdk import starters
from league import bots
from league.accounts import throttles
from league.accounts.throttles import Usage
from league.bots import trials
from league.bots.trials import Trial, TrialRefusedError, TrialsAwayError
from league.models import Bot
from web.ace import ace_file
from web.forms import CodeForm, add_errors
from web.learn import LESSONS
from web.requests import visitor, whole_number
from web.throttled import View, limited
from web.trial_page import shown_trial, trial_phases


def _or_away(view: View) -> View:
    """Decorate a view to answer 503 while trials can't be read."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except TrialsAwayError:
            response = render(request, "web/learn/away.html", status=503)
            response["Retry-After"] = "5"
            return response

    return answered


@require_safe
@_or_away
def editor(request: HttpRequest) -> HttpResponse:
    """Show the editor with the first bot that ``twelfth-night new`` writes for the game."""
    _require_open()
    game = request.GET.get("game", "twelve-days")
    if game not in LESSONS:
        raise Http404("There is no such game.")
    if (kept := trials.find(request.GET.get("trial", ""))) is not None:
        return _editor(request, kept.game, kept.source, kept=True)
    return _editor(request, game, _starter(game))


def _client(request: HttpRequest) -> str:
    """Return who tries a bot: the person who is signed in, else the address."""
    user = visitor(request)
    return throttles.client_by_request(request) if user is None else f"owner:{user.pk}"


def _too_often(request: HttpRequest, usage: Usage) -> HttpResponse:
    """Keep the file in the editor, with the reason above it."""
    _require_open()
    left = -(-usage.reset_seconds // 60)
    who = "your network address (IP)" if visitor(request) is None else "your account"
    reason = (
        f"You can try {usage.limit} bot{pluralize(usage.limit)} in {usage.window_seconds // 60} "
        f"minutes from {who}. Try again in {left} minute{pluralize(left)}."
    )
    game = request.POST.get("game", "")
    if game not in LESSONS:
        raise Http404("There is no such game.")
    return _editor(request, game, _sent_source(request), refusal=reason, status=429)


@require_POST
@never_cache
@limited("trials", _client, _too_often)
def begin(request: HttpRequest) -> HttpResponse:
    """Try the bot that the editor holds; lead to the page of its trial."""
    _require_open()
    game = request.POST.get("game", "")
    if game not in LESSONS:
        raise Http404("There is no such game.")
    source = _sent_source(request)
    try:
        trial_id = trials.begin(game=game, source=source, client=_client(request))
    except TrialRefusedError as error:
        return _editor(request, game, source, refusal=str(error), status=error.status)
    return redirect("web:trial", trial_id)


@require_safe
@never_cache
@_or_away
def trial(request: HttpRequest, trial_id: str) -> HttpResponse:
    """Show a trial: that it waits, or its result with the table."""
    found = _find(trial_id)
    context: dict[str, Any] = {
        "trial": found,
        "lesson": LESSONS[found.game],
        "open": found.state in ("waiting", "playing"),
        "bots_names": trials.OPPONENTS,
        "minutes": trials.KEPT_SECONDS // 60,
    }
    if found.state == "done":
        context |= shown_trial(found, whole_number(request.GET.get("step", "")) or 1)
    return render(request, "web/learn/trial.html", context)


@require_safe
@never_cache
@gzip_page
@_or_away
def phases(request: HttpRequest, trial_id: str) -> HttpResponse:
    """Return all phases of the match that a trial shows, as `matches.match_phases` does."""
    found = _find(trial_id)
    if not found.result.get("record"):
        raise Http404("This trial has no match to show.")
    return JsonResponse(trial_phases(found))


@never_cache
@_or_away
def upload(request: HttpRequest) -> HttpResponse:
    """Upload a file from the editor as a version of a bot, which it creates if need be.

    Who has not signed in is led to signing up, and from there back.
    """
    user = visitor(request)
    if user is None:
        return redirect_to_login(request.get_full_path(), reverse("web:sign-up"))
    found = None if request.method == "POST" else trials.find(request.GET.get("trial", ""))
    form = CodeForm(request.POST or None, initial={"source": found.source if found else ""})
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                return _uploaded(user, form.cleaned_data)
            except ValidationError as error:
                add_errors(form, error)
    own = Bot.objects.active().hosted().owned_by(user).values_list("name", flat=True)
    context = {"form": form, "own": list(own)}
    return render(request, "web/learn/upload.html", context, status=status)


@require_safe
def ace(request: HttpRequest, name: str) -> HttpResponse:
    """Return a file of the editor, compressed if the browser takes that."""
    return ace_file(request, name)


def _uploaded(user: User, sent: Mapping[str, str]) -> HttpResponse:
    data = sent["source"].replace("\r\n", "\n").encode("utf-8", "replace")
    with transaction.atomic():  # no bot is left if its file is refused
        bot = Bot.objects.active().hosted().owned_by(user).filter(name=sent["name"]).first()
        if bot is None:
            bot, _ = bots.create_bot(owner=user, name=sent["name"], kind=Bot.Kind.HOSTED)
        version = bots.upload(bot=bot, data=data, again=False)
    return redirect("web:version", bot.name, version.number)


def _editor(
    request: HttpRequest,
    game: str,
    source: str,
    *,
    refusal: str = "",
    status: int = 200,
    kept: bool = False,
) -> HttpResponse:
    context = {
        "lesson": LESSONS[game],
        "lessons": LESSONS.values(),
        "source": source,
        "starter": _starter(game),
        "refusal": refusal,
        "kept": kept or bool(refusal),
        "wall_seconds": round(trials.WALL_SECONDS),
        "matches": trials.BLOCKS * trials.SETTINGS[game].seats,
        "bots_names": trials.OPPONENTS,
    }
    return render(request, "web/learn/editor.html", context, status=status)


def _sent_source(request: HttpRequest) -> str:
    return request.POST.get("source", "").replace("\r\n", "\n")


def _starter(game: str) -> str:
    """Return the first bot of the SDK; the page links to the rules that its docstring repeats."""
    source = starters.files("rules", game, "my_bot")["my_bot.py"].decode()
    head, _, code = source.partition('"""\n')
    return f'{head.partition(chr(10))[0]}"""\n{code}'


def _find(trial_id: str) -> Trial:
    _require_open()
    found = trials.find(trial_id)
    if found is None:
        raise Http404("There is no trial here: the league deletes a trial after an hour.")
    return found


def _require_open() -> None:
    if not settings.TRY_IN_BROWSER:
        raise Http404(
            "Bots can't be tried in the browser at this league. Try them on your computer with the "
            "command “twelfth-night try”."
        )
