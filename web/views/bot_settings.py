"""The pages on which an owner changes a bot: name and settings, notes, deletion."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from league import bots, competitions
from league.models import BotVersion
from web.forms import BotSettingsForm, NoteForm, add_errors, status_of
from web.requests import form_of_a_person, signed_in
from web.views.bots import own_bot


@login_required
@never_cache
def settings(request: HttpRequest, name: str) -> HttpResponse:
    """Rename a bot, describe it, and set who may challenge it."""
    bot = own_bot(request, name)
    form = BotSettingsForm(request.POST or None, initial=BotSettingsForm.values(bot))
    if request.method == "POST" and form.is_valid():
        try:
            changed = bots.change_bot(own_bot(request, name), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, f"The settings of {changed} are saved.")
            return redirect("web:bot-settings", changed.name)
    context = {"bot": bot, "form": form}
    return render(request, "web/bot_settings.html", context, status=status_of(form))


@login_required
@never_cache
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Show what the deletion of a bot does; with POST delete the bot."""
    bot = own_bot(request, name)
    if request.method != "POST":
        context = {"bot": bot, "has_played": bots.has_played(bot)}
        return render(request, "web/delete_bot.html", context)
    is_retired = competitions.delete_bot(bot)
    kept = "Its results stay." if is_retired else "Its name is free again."
    messages.success(request, f"The bot {name} is deleted. {kept}")
    return redirect("web:account")


@form_of_a_person
def note(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Change the note of a version."""
    form = NoteForm(request.POST)
    if form.is_valid():
        try:
            bots.change_note(_own_version(request, name, number), form.cleaned_data["note"])
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            messages.success(request, "The note is saved.")
    else:
        messages.error(request, "A note has at most 500 characters.")
    return redirect("web:version", name, number)


@form_of_a_person
def withdraw(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Withdraw a version that is being checked."""
    try:
        bots.withdraw_version(_own_version(request, name, number))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"Version {number} is withdrawn.")
    return redirect("web:version", name, number)


def _own_version(request: HttpRequest, name: str, number: int) -> BotVersion:
    owned = BotVersion.objects.filter(bot__owner=signed_in(request), bot__retired_at=None)
    return get_object_or_404(owned, bot__name=name, number=number)
