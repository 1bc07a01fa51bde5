"""The pages on which organisers decide: a preview of what changes, then a confirmation."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from league import moderation
from league.models import Block, Tournament, TournamentEntry
from league.moderation import LaterStages
from league.ratings.void_marks import is_void, newest_mark
from web.forms import DecisionForm, RestartForm, add_errors
from web.requests import organiser_only, signed_in

PUBLIC = "The reason is public: pages and the API show it with the results."
LOGGED = "The moderation log keeps the reason."
State = Tournament.State


@organiser_only
def block(request: HttpRequest, slug: str, number: int, block: int) -> HttpResponse:
    """Show what a block's void, replay or return changes; with POST do it."""
    found = get_object_or_404(
        Block.objects.select_related("round__ladder", "round__tournament__ladder"),
        round__ladder__slug=slug,
        round__number=number,
        number=block,
    )
    choices = _choices(found)
    wanted = request.GET.get("action", "")
    action = wanted if wanted in choices else next(iter(choices))
    later = LaterStages.AGAIN if action == "replay-stages" else LaterStages.KEEP
    mark = newest_mark(found)
    by = {"block": found, "made_by": signed_in(request)}
    works: dict[str, Callable[[str], object]] = {
        "void": lambda reason: moderation.void_block(reason=reason, **by),
        "restore": lambda reason: moderation.restore_block(reason=reason, **by),
        "replay": lambda reason: moderation.play_again(reason=reason, later_stages=later, **by),
    }
    previews: dict[str, Callable[[], moderation.Preview]] = {
        "void": lambda: moderation.preview_void(found),
        "restore": lambda: moderation.preview_restore(found),
        "replay": lambda: moderation.preview_replay(found, later),
    }
    kind = "replay" if action.startswith("replay") else action
    button = {
        "void": f"Make {found} void",
        "restore": f"Let {found} count again",
        "replay": f"Play {found} again",
    }[kind]
    context = {
        "block": found,
        "round": found.round,
        "ladder": found.round.ladder,
        "choices": [(name, text, name == action) for name, text in choices.items()],
        "action": action,
        "button": button,
        "matches": found.matches.order_by("number"),
    }
    form = DecisionForm(
        request.POST or None,
        seen=str(mark.pk if mark else 0),
        help_text=PUBLIC,
        optional=kind == "restore",
    )
    return _decide(
        request,
        "web/organise/block.html",
        context,
        form,
        previews[kind],
        lambda sent: works[kind](sent["reason"]),
        f"Done: {button}. The ratings follow within seconds.",
    )


@organiser_only
def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the cancellation of a tournament, or its return, changes; with POST do it."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    cancelled = found.state == State.CANCELLED
    by = {"tournament": found, "made_by": signed_in(request)}
    entries = found.entries.select_related("bot__owner").order_by("bot__name")
    context = {
        "tournament": found,
        "entries": entries,
        "button": f"Take back the cancellation of {found}" if cancelled else f"Cancel {found}",
        "over": found.state == State.FINISHED,
    }
    seen = f"{found.state}: {found.cancel_reason}" if cancelled else found.state
    form_class = RestartForm if cancelled and not found.rounds.exists() else DecisionForm
    form = form_class(
        request.POST or None,
        seen=seen,
        help_text=LOGGED if cancelled else PUBLIC,
        optional=cancelled,
    )

    def work(sent: dict[str, Any]) -> None:
        if cancelled:
            moderation.restore(reason=sent["reason"], starts_at=sent.get("starts_at"), **by)
        else:
            moderation.cancel(reason=sent["reason"], **by)

    return _decide(
        request,
        "web/organise/tournament.html",
        context,
        form,
        lambda: moderation.preview_cancellation(found),
        work,
        f"Done: {context['button']}.",
    )


@organiser_only
def entry(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Show what a bot's disqualification, or its return, changes; with POST do it."""
    found = get_object_or_404(
        TournamentEntry.objects.select_related("tournament__ladder", "bot__owner"),
        tournament=pk,
        bot__name=name,
    )
    bot, out = found.bot, found.state == TournamentEntry.State.DISQUALIFIED
    by = {"tournament": found.tournament, "bot": bot, "made_by": signed_in(request)}
    button = f"Take back the disqualification of {bot}" if out else f"Disqualify {bot}"
    context = {"entry": found, "tournament": found.tournament, "bot": bot, "button": button}
    form = DecisionForm(
        request.POST or None,
        seen=f"{found.state}: {found.reason}",
        help_text=LOGGED if out else PUBLIC,
        optional=out,
    )
    decide = moderation.reinstate if out else moderation.disqualify
    return _decide(
        request,
        "web/organise/entry.html",
        context,
        form,
        lambda: moderation.preview_disqualification(found.tournament, bot),
        lambda sent: decide(reason=sent["reason"], **by),
        f"Done: {button}.",
    )


def _choices(block: Block) -> dict[str, str]:
    """Return the decisions that a block allows, by name; the first is the usual one."""
    of = block.round.tournament
    is_knockout = of is not None and of.format == Tournament.Format.KNOCKOUT
    keep = (
        "Play it again; later stages stay as they were played" if is_knockout else "Play it again"
    )
    found = {"replay": keep}
    if is_knockout:
        found["replay-stages"] = "Play it again, and the knockout from this stage on"
    if is_void(block):
        return {"restore": "Let it count again", **found}
    return {"void": "Make it void", **found}


def _decide(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    form: DecisionForm,
    preview: Callable[[], moderation.Preview],
    work: Callable[[dict[str, Any]], object],
    done: str,
) -> HttpResponse:
    """Show a preview with its confirmation; with POST do the work, and return to the page."""
    if request.method == "POST" and form.is_valid():
        try:
            _check_unchanged(form)
            work(form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, done)
            return redirect(request.path)
    try:
        context["preview"] = preview()
    except ValidationError as error:
        context["refusal"] = " ".join(error.messages)
    context["form"] = form
    return render(request, template, context, status=400 if form.errors else 200)


def _check_unchanged(form: DecisionForm) -> None:
    """Raise if another organiser has decided since the page was shown; show both versions."""
    shown, now = form.cleaned_data["seen"], form.initial["seen"]
    if shown and shown != now:
        data = form.data.copy()
        data["seen"] = now  # the next attempt of the person is made with the new state in view
        form.data = data
        raise ValidationError(
            "Another organiser has decided since you opened this page, and nothing is done. "
            f"Stored now: {now}. You saw: {shown}. The preview below shows the new state."
        )
