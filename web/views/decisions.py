"""The pages on which organisers decide: a preview of what changes, then a confirmation."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from league import moderation
from league.models import Block, Tournament, TournamentEntry
from league.moderation import LaterStages
from league.ratings.void_marks import is_void, newest_mark
from web.conflicts import replaced
from web.forms import DecisionForm, RestartForm, add_errors
from web.requests import organiser_only, signed_in

PUBLIC = "The reason is public: pages and the API show it with the results."
LOGGED = "The moderation log keeps the reason."
State = Tournament.State
Sent = dict[str, Any]


class Decision(NamedTuple):
    """A decision that a page offers.

    Attributes:
        button: the text of the button, which names the decision and its subject.
        preview: returns what it changes, or raises if it is not possible.
        work: carries it out with the values of the form.
    """

    button: str
    preview: Callable[[], moderation.Preview]
    work: Callable[[Sent], object]


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
    decision = _block_decision(found, action, signed_in(request))
    mark = newest_mark(found)
    context = {
        "of": found,  # inside a template's block, `block` is that block
        "round": found.round,
        "ladder": found.round.ladder,
        "choices": [(name, text, name == action) for name, text in choices.items()],
        "matches": found.matches.order_by("number"),
    }
    form = DecisionForm(
        request.POST or None,
        seen=f"void: {found.void_reason}" if mark and not mark.takes_back else found.state,
        help_text=PUBLIC,
        optional=action == "restore",
    )
    return _decide(request, "web/organise/block.html", context, form, decision)


@organiser_only
def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the cancellation of a tournament, or its return, changes; with POST do it."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    cancelled, made_by = found.state == State.CANCELLED, signed_in(request)

    def work(sent: Sent) -> None:
        if cancelled:
            moderation.restore(
                tournament=found,
                reason=sent["reason"],
                starts_at=sent.get("starts_at"),
                made_by=made_by,
            )
        else:
            moderation.cancel(tournament=found, reason=sent["reason"], made_by=made_by)

    context = {
        "tournament": found,
        "entries": found.entries.select_related("bot__owner").order_by("bot__name"),
        "over": found.state == State.FINISHED,
    }
    form_class = RestartForm if cancelled and not found.rounds.exists() else DecisionForm
    form = form_class(
        request.POST or None,
        seen=f"{found.state}: {found.cancel_reason}" if cancelled else found.state,
        help_text=LOGGED if cancelled else PUBLIC,
        optional=cancelled,
    )
    decision = Decision(
        button=f"Take back the cancellation of {found}" if cancelled else f"Cancel {found}",
        preview=lambda: moderation.preview_cancellation(found),
        work=work,
    )
    return _decide(request, "web/organise/tournament.html", context, form, decision)


@organiser_only
def entry(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Show what a bot's disqualification, or its return, changes; with POST do it."""
    found = get_object_or_404(
        TournamentEntry.objects.select_related("tournament__ladder", "bot__owner"),
        tournament=pk,
        bot__name=name,
    )
    of, bot = found.tournament, found.bot
    out, made_by = found.state == TournamentEntry.State.DISQUALIFIED, signed_in(request)
    decide = moderation.reinstate if out else moderation.disqualify
    context = {"entry": found, "tournament": of, "bot": bot}
    form = DecisionForm(
        request.POST or None,
        seen=f"{found.state}: {found.reason}",
        help_text=LOGGED if out else PUBLIC,
        optional=out,
    )
    decision = Decision(
        button=f"Take back the disqualification of {bot}" if out else f"Disqualify {bot}",
        preview=lambda: moderation.preview_disqualification(of, bot),
        work=lambda sent: decide(tournament=of, bot=bot, reason=sent["reason"], made_by=made_by),
    )
    return _decide(request, "web/organise/entry.html", context, form, decision)


def _choices(block: Block) -> dict[str, str]:
    """Return the decisions that a block allows, by name; the first is the usual one."""
    of = block.round.tournament
    found = {"replay": "Play it again"}
    if of is not None and of.format == Tournament.Format.KNOCKOUT:
        found = {
            "replay": "Play it again and keep later stages",
            "replay-stages": "Play it again, and all later stages",
        }
    if is_void(block):
        return {"restore": "Let it count again", **found}
    return {"void": "Make it void", **found}


def _block_decision(block: Block, action: str, made_by: User) -> Decision:
    """Return one of the decisions of `_choices`."""
    if action == "void":
        return Decision(
            f"Make {block} void",
            lambda: moderation.preview_void(block),
            lambda sent: moderation.void_block(block=block, reason=sent["reason"], made_by=made_by),
        )
    if action == "restore":
        return Decision(
            f"Let {block} count again",
            lambda: moderation.preview_restore(block),
            lambda sent: moderation.restore_block(
                block=block, reason=sent["reason"], made_by=made_by
            ),
        )
    later = LaterStages.AGAIN if action == "replay-stages" else LaterStages.KEEP
    return Decision(
        f"Play {block} again" + (", and all later stages" if later == LaterStages.AGAIN else ""),
        lambda: moderation.preview_replay(block, later),
        lambda sent: moderation.play_again(
            block=block, reason=sent["reason"], made_by=made_by, later_stages=later
        ),
    )


def _decide(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    form: DecisionForm,
    decision: Decision,
) -> HttpResponse:
    """Show a preview with its confirmation; with POST do the work, and return to the page."""
    if request.method == "POST" and form.is_valid():
        try:
            _check_unchanged(form)
            decision.work(form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, f"Done: {decision.button}.")
            return redirect(request.path)
    try:
        context["preview"] = decision.preview()
    except ValidationError as error:
        context["refusal"] = " ".join(error.messages)
    context |= {"form": form, "button": decision.button}
    return render(request, template, context, status=400 if form.errors else 200)


def _check_unchanged(form: DecisionForm) -> None:
    """Raise if another organiser has decided since the page was shown; show both versions."""
    shown, now = form.cleaned_data["seen"], form.initial["seen"]
    if shown and shown != now:
        # The next attempt of the person is made with the new state in view.
        form.data = replaced(form.data, "seen", now)
        raise ValidationError(
            "Another organiser has decided since you opened this page, and nothing is done. "
            f"Stored now: {now}. You saw: {shown}. The preview below shows the new state."
        )
