"""The operator's pages: how the league's machinery does, and decisions about single matches."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from league import health, moderation, play
from league.bots import sandbox_reports
from league.models import Match
from web.forms import DecisionForm, FindMatchForm, status_of
from web.requests import operator_only, signed_in
from web.selectors import operations
from web.views.decisions import LOGGED, PUBLIC, Decision, decide

Work = Callable[..., object]
_QUEUE = "Queue again"
_CANCEL = "Cancel"
_RESTORE = "Take the cancellation back"


@operator_only
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show faults, queues, processes, what waits longest, and what failed."""
    form = FindMatchForm(request.GET or None)
    if form.is_bound and form.is_valid():
        number = form.cleaned_data["match"]
        if Match.objects.filter(pk=number).exists():
            return redirect("web:operate-match", number)
        form.add_error("match", f"There is no match {number}.")
    now = timezone.now()
    context = {
        "form": form,
        "now": now,
        "faults": health.find_faults(),
        "alarms": health.find_alarms(),
        "sandbox": sandbox_reports.find_fault(),
        "waiting": operations.waiting_longest(),
        "failed": operations.failed_matches(),
        "void": operations.void_matches(),
        "archive": play.archive_state(),
        "archive_days": settings.ARCHIVE_DAYS,
        **operations.broker_shows(now),
    }
    return render(request, "web/operate/overview.html", context, status=status_of(form))


@operator_only
def match(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how a match does, and what requeuing or cancelling it changes; with POST do it."""
    found = get_object_or_404(
        Match.objects.select_related(
            "block__round__ladder", "block__round__tournament__ladder", "challenge", "swap_block"
        ),
        pk=pk,
    )
    choices = _choices(found)
    wanted = request.GET.get("action", "")
    action = wanted if wanted in choices else next(iter(choices))
    context = {
        "match": found,
        "now": timezone.now(),
        "seats": found.seating.select_related("bot", "version"),
        "turns": operations.open_turns_of(found),
        "choices": [(name, text, name == action) for name, text in choices.items()],
    }
    form = DecisionForm(
        request.POST or None,
        seen=str(moderation.state_of_match(found)),
        help_text=PUBLIC if action == "cancel" else LOGGED,
        optional=action != "cancel",
    )
    decision = _decision(found, action, signed_in(request))
    return decide(request, "web/operate/match.html", context, form, decision)


def _choices(match: Match) -> dict[str, str]:
    """Return the decisions that a match allows, by name; the first is the usual one."""
    if match.is_unfinished:
        return {"requeue": _QUEUE, "cancel": _CANCEL}
    return {"restore": _RESTORE}


def _decision(match: Match, action: str, made_by: User) -> Decision:
    """Return one of the decisions of `_choices`."""
    works: dict[str, tuple[str, str, Callable[[Match], moderation.Preview], Work]] = {
        "requeue": (
            f"Queue {match} again",
            f"{match} is queued again.",
            moderation.preview_requeue,
            moderation.requeue_match,
        ),
        "cancel": (
            f"Cancel {match}",
            f"{match} is void.",
            moderation.preview_cancellation_of_match,
            moderation.cancel_match,
        ),
        "restore": (
            f"Let {match} be played",
            f"{match} waits to be played.",
            moderation.preview_return_of_match,
            moderation.restore_match,
        ),
    }
    button, done, preview, work = works[action]
    return Decision(
        button=button,
        done=done[0].upper() + done[1:],
        preview=lambda: preview(match),
        work=lambda sent: work(
            match=match, reason=sent["reason"], made_by=made_by, seen=sent["seen"]
        ),
    )
