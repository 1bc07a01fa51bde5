"""The pages of organisers: quarantines of bots and accounts, and the moderation log."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from league import bots, moderation
from league.accounts.quarantines import account_quarantine, own_quarantine
from league.models import Bot, Ladder, ModerationEntry, Quarantine, Tournament
from league.moderation import log as moderation_log
from web.conflicts import replaced
from web.forms import FindForm, QuarantineForm, add_errors, status_of
from web.requests import bot_or_404, organiser_only, page_of, signed_in, whole_number

_LATEST = 10
_ROWS = 50
_PAST = 20
_TOURNAMENTS = 20
_LADDERS = 8


@organiser_only
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the quarantines that hold, running tournaments, and the latest decisions."""
    form = FindForm(request.GET if "name" in request.GET else None)
    if form.is_bound and form.is_valid():
        found = _find(form)
        if found is not None:
            return found
    to_come, running = Tournament.objects.to_come(), Tournament.objects.running()
    planned = (to_come | running).with_entry_counts().order_by("starts_at", "pk")
    tournaments = page_of(request, planned, _TOURNAMENTS)
    context = {
        "form": form,
        "quarantines": Quarantine.objects.active(timezone.now()).select_related(
            "bot", "account", "made_by"
        ),
        "tournaments": tournaments,
        "running": running.count(),
        "to_come": to_come.count(),
        "entries": moderation_log.entries()[:_LATEST],
        "ladders": Ladder.objects.order_by("title", "pk")[:_LADDERS],
    }
    return render(request, "web/organise/overview.html", context, status=status_of(form))


@organiser_only
def bot(request: HttpRequest, name: str) -> HttpResponse:
    """Show the quarantine of a bot; with POST begin, change or lift it."""
    found = bot_or_404(name)
    context = {
        "kind": "bot",
        "subject": found,
        "of_account": account_quarantine(found.owner) if found.owner else None,
        "past": found.quarantines.select_related("made_by")[:_PAST],
    }
    return _quarantine_page(
        request,
        context,
        lambda: own_quarantine(found),
        lambda **sent: moderation.quarantine_bot(bot=found, **sent),
        lambda **sent: moderation.lift_bot_quarantine(bot=found, **sent),
    )


@organiser_only
def account(request: HttpRequest, name: str) -> HttpResponse:
    """Show the quarantine of an account; with POST begin, change or lift it."""
    found = get_object_or_404(User, username=name)
    context = {
        "kind": "account",
        "subject": found,
        "bots": Bot.objects.owned_by(found),
        "past": Quarantine.objects.filter(account=found).select_related("made_by")[:_PAST],
    }
    return _quarantine_page(
        request,
        context,
        lambda: account_quarantine(found),
        lambda **sent: moderation.quarantine_account(account=found, **sent),
        lambda **sent: moderation.lift_account_quarantine(account=found, **sent),
    )


@organiser_only
@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """Show the moderation log, the newest decision first."""
    action, wanted = request.GET.get("action", ""), request.GET.get("q", "").strip()[:100]
    if action not in ModerationEntry.Action.values:
        action = ""
    rows = moderation_log.entries(action=action, wanted=wanted)
    context = {
        "page": page_of(request, rows, _ROWS),
        "actions": ModerationEntry.Action.choices,
        "action": action,
        "wanted": wanted,
    }
    return render(request, "web/organise/log.html", context)


@organiser_only
@require_safe
def log_export(request: HttpRequest) -> HttpResponseBase:
    """Return the whole moderation log as a file: CSV, or JSON Lines."""
    name = request.GET.get("format", "csv")
    if name not in moderation_log.FORMATS:
        name = "csv"
    lines, content_type = moderation_log.FORMATS[name]
    headers = {"Content-Disposition": f'attachment; filename="moderation-log.{name}"'}
    rows = moderation_log.entries()
    return StreamingHttpResponse(lines(rows), content_type=content_type, headers=headers)


def _quarantine_page(
    request: HttpRequest,
    context: dict[str, Any],
    stored: Callable[[], Quarantine | None],
    begin: Callable[..., object],
    lift: Callable[..., object],
) -> HttpResponse:
    """Show the quarantine that is stored now; with POST call ``begin`` or ``lift``."""
    subject = context["subject"]
    held = stored()
    form = QuarantineForm(request.POST or None, initial=_initial(held))
    if request.method == "POST" and "lift" in request.POST:
        try:
            lift(
                reason=request.POST.get("why", ""),
                made_by=signed_in(request),
                seen=whole_number(request.POST.get("seen", "")),
            )
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            messages.success(request, f"The quarantine of {subject} is lifted.")
        return redirect(request.path)
    if request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        seen = whole_number(sent["seen"])
        try:
            begin(
                reason=sent["reason"],
                ends_at=sent["ends_at"],
                made_by=signed_in(request),
                seen=seen,
            )
        except ValidationError as error:
            add_errors(form, error)
            # The next attempt of the person replaces the quarantine that the page now shows.
            form.data = replaced(form.data, "seen", str(held.pk) if held else "")
        else:
            messages.success(request, f"{subject} is in quarantine.")
            return redirect(request.path)
    context |= {"form": form, "held": held}
    return render(request, "web/organise/quarantine.html", context, status=status_of(form))


def _initial(held: Quarantine | None) -> dict[str, Any]:
    if held is None:
        return {}
    return {"reason": held.reason, "ends_at": held.ends_at, "seen": held.pk}


def _find(form: FindForm) -> HttpResponse | None:
    """Return the way to the page of the bot or account that the form names; None without one."""
    kind, name = form.cleaned_data["kind"], form.cleaned_data["name"]
    if kind == "bot" and (named := bots.find_by_name(name)) is not None:
        return redirect("web:organise-bot", named.name)
    if kind == "account" and User.objects.filter(username=name).exists():
        return redirect("web:organise-account", name)
    form.add_error("name", f"There is no {kind} {name}.")
    return None
