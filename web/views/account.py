"""The pages of an account: signing up and in, and a person's bots."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from league import accounts, bots
from league.models import Bot, Ladder
from web.bot_story import best_place
from web.forms import BotForm, SignUpForm, add_errors, status_of
from web.requests import signed_in
from web.selectors.bots import bots_of, on_ladders
from web.selectors.form import forms_of
from web.throttled import limited


@sensitive_post_parameters("password")
@never_cache
@limited("accounts")
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account, sign its owner in and show the owner token once."""
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user, token = accounts.create_account(**form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            login(request, user)
            context = {"token": token, "kind": "owner token", "is_new_account": True}
            context["next"] = _next(request)
            return render(request, "web/token.html", context)
    context = {"form": form, "next": _next(request)}
    return render(request, "registration/sign_up.html", context, status=status_of(form))


def _next(request: HttpRequest) -> str:
    """Return the address on this site to go to after signing up; empty without one."""
    wanted = request.GET.get("next", "")
    hosts = {request.get_host()}
    is_safe = url_has_allowed_host_and_scheme(wanted, hosts, require_https=request.is_secure())
    return wanted if is_safe else ""


@limited("passwords")
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign a person in."""
    response = LoginView.as_view()(request)
    assert isinstance(response, HttpResponse)
    return response


@login_required
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Show a person's bots; with POST create one.

    The answer shows the token of a new remote bot once; a new hosted bot leads to its upload.
    """
    user = signed_in(request)
    form = BotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            bot, token = bots.create_bot(owner=user, **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            if bot.kind == Bot.Kind.HOSTED:
                messages.success(request, f"{bot} is created. Now upload its first version.")
                return redirect("web:upload", bot.name)
            context = {"token": token, "kind": "bot token", "bot": bot}
            return render(request, "web/token.html", context)
    now = timezone.now()
    ladders = list(Ladder.objects.all())
    own = list(bots_of(user))
    forms = forms_of([bot.pk for bot in own])
    context = {
        "form": form,
        "headline": best_place(own),
        "bots": [
            (bot, bots.is_online(bot, now), on_ladders(bot, ladders), forms.get(bot.pk))
            for bot in own
        ],
    }
    return render(request, "web/account.html", context, status=status_of(form))
