"""The organisers' pages on which a tournament is announced, or changed before its start."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from league import moderation
from league.models import Tournament
from web.event_forms import EventForm
from web.forms import add_errors, status_of
from web.requests import organiser_only, signed_in


@organiser_only
def announce(request: HttpRequest) -> HttpResponse:
    """Announce a tournament."""
    form = EventForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = moderation.announce(made_by=signed_in(request), **form.settings())
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, f"{made.title} is announced. Send this page to the authors.")
            return redirect("web:tournament", made.pk)
    return render(request, "web/organise/event.html", {"form": form}, status=status_of(form))


@organiser_only
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a tournament that has not started."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    if found.state not in Tournament.NOT_STARTED:
        messages.error(request, f"{found.title} has begun, so its settings can’t change any more.")
        return redirect("web:organise-tournament", found.pk)
    form = EventForm(request.POST or None, tournament=found)
    if request.method == "POST" and form.is_valid():
        try:
            moderation.change(tournament=found, made_by=signed_in(request), **form.settings())
        except ValidationError as error:
            if getattr(error, "code", "") == "changed-meanwhile":
                found.refresh_from_db()
                form.show_conflict(found)
            else:
                add_errors(form, error)
        else:
            messages.success(request, f"The settings of {found.title} have changed.")
            return redirect("web:tournament", found.pk)
    context = {"form": form, "tournament": found}
    return render(request, "web/organise/event.html", context, status=status_of(form))
