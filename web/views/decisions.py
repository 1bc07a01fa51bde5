"""The pages on which organisers decide: a preview of what changes, then a confirmation."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst

from league import moderation
from league.models import Block, Bot, Tournament, TournamentEntry
from league.moderation import LaterStages
from league.ratings.void_marks import is_void
from web.conflicts import replaced
from web.forms import DecisionForm, RestartForm, add_errors, status_of
from web.requests import bot_or_404, organiser_only, signed_in
from web.tags import decimals, milli

PUBLIC = "The reason is public: pages and the API show it with the results."
LOGGED = "The moderation log keeps the reason."
MAX_SHOWN_LETTERS, MAX_LOGGED_LETTERS = 200, 500
"""Most characters of a reason that a tournament shows, and of one that only the log keeps."""
RANKS = ["Rank now", "Rank then"]
State = Tournament.State
Sent = dict[str, Any]


class Decision(NamedTuple):
    """A decision that a page offers.

    Attributes:
        button: the text of the button, which names the decision and its subject.
        done: a sentence on what has changed, for the page after the decision.
        preview: returns what it changes, or raises if it is not possible.
        work: carries it out with the values of the form.
    """

    button: str
    done: str
    preview: Callable[[], moderation.Preview]
    work: Callable[[Sent], object]


class ChangeTable(NamedTuple):
    """A table of a preview.

    Attributes:
        title: its heading.
        columns: the headings of the columns after the bot's.
        rows: each bot, and the texts of its columns.
    """

    title: str
    columns: list[str]
    rows: list[tuple[Bot, list[str]]]

    @property
    def labelled(self) -> list[tuple[Bot, list[tuple[str, str]]]]:
        """The rows, each text with the heading of its column, which stands above it on phones."""
        return [(bot, list(zip(self.columns, texts, strict=True))) for bot, texts in self.rows]


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
    context = {
        "of": found,  # inside a template's block, `block` is that block
        "round": found.round,
        "ladder": found.round.ladder,
        "choices": [(name, text, name == action) for name, text in choices.items()],
        "matches": found.matches.order_by("number"),
    }
    form = DecisionForm(
        request.POST or None,
        seen=str(moderation.state_of_block(found)),
        help_text=PUBLIC,
        optional=action == "restore",
    )
    return decide(request, "web/organise/block.html", context, form, decision)


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
                seen=sent["seen"],
            )
        else:
            moderation.cancel(
                tournament=found, reason=sent["reason"], made_by=made_by, seen=sent["seen"]
            )

    context = {
        "tournament": found,
        "entries": found.entries.select_related("bot__owner").order_by("bot__name"),
        "over": found.state == State.FINISHED,
        "changeable": found.state in Tournament.NOT_STARTED,
    }
    form_class = RestartForm if cancelled and not found.rounds.exists() else DecisionForm
    form = form_class(
        request.POST or None,
        seen=str(moderation.state_of_tournament(found)),
        help_text=LOGGED if cancelled else PUBLIC,
        optional=cancelled,
        max_letters=MAX_LOGGED_LETTERS if cancelled else MAX_SHOWN_LETTERS,
    )
    decision = Decision(
        button=f"Take back the cancellation of {found}" if cancelled else f"Cancel {found}",
        done=f"{found} is no longer cancelled." if cancelled else f"{found} is cancelled.",
        preview=lambda: moderation.preview_cancellation(found),
        work=work,
    )
    return decide(request, "web/organise/tournament.html", context, form, decision)


@organiser_only
def entry(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Show what a bot's disqualification, withdrawal or return changes; with POST do it."""
    found = get_object_or_404(
        TournamentEntry.objects.select_related("tournament__ladder", "bot__owner"),
        tournament=pk,
        bot=bot_or_404(name),
    )
    of, bot = found.tournament, found.bot
    choices = _entry_choices(found)
    wanted = request.GET.get("action", "")
    action = wanted if wanted in choices else next(iter(choices))
    context = {
        "entry": found,
        "tournament": of,
        "bot": bot,
        "choices": [(name, text, name == action) for name, text in choices.items()],
    }
    is_shown = action == "disqualify" or (action == "withdraw" and of.state == State.RUNNING)
    form = DecisionForm(
        request.POST or None,
        seen=str(moderation.state_of_entry(of, bot)),
        help_text=PUBLIC if is_shown else LOGGED,
        optional=action in ("reinstate", "enter"),
        max_letters=MAX_SHOWN_LETTERS if is_shown else MAX_LOGGED_LETTERS,
    )
    decision = _entry_decision(found, action, signed_in(request))
    deletes = action == "withdraw" and of.state in Tournament.NOT_STARTED
    return decide(
        request,
        "web/organise/entry.html",
        context,
        form,
        decision,
        after=reverse("web:organise-tournament", args=[of.pk]) if deletes else "",
    )


def _entry_choices(entry: TournamentEntry) -> dict[str, str]:
    """Return the decisions that an entry allows, by name; the first is the usual one."""
    states = TournamentEntry.State
    if entry.state == states.DISQUALIFIED:
        return {"reinstate": "Take the disqualification back"}
    found = {"disqualify": "Disqualify"}
    if entry.tournament.state in (*Tournament.NOT_STARTED, State.RUNNING):
        found |= {"withdraw": "Withdraw"} if entry.state == states.ENTERED else {"enter": "Enter"}
    return found


def _entry_decision(entry: TournamentEntry, action: str, made_by: User) -> Decision:
    """Return one of the decisions of `_entry_choices`."""
    of, bot = entry.tournament, entry.bot
    button, done, preview, decide = {
        "disqualify": (
            f"Disqualify {bot}",
            f"{bot} is disqualified.",
            moderation.preview_disqualification,
            moderation.disqualify,
        ),
        "reinstate": (
            f"Take back the disqualification of {bot}",
            f"{bot} is no longer disqualified.",
            moderation.preview_disqualification,
            moderation.reinstate,
        ),
        "withdraw": (
            f"Withdraw {bot}",
            f"{bot} is withdrawn.",
            moderation.preview_withdrawal,
            moderation.withdraw,
        ),
        "enter": (
            f"Enter {bot} again",
            f"{bot} is entered again.",
            moderation.preview_withdrawal,
            moderation.enter,
        ),
    }[action]
    return Decision(
        button=button,
        done=done,
        preview=lambda: preview(of, bot),
        work=lambda sent: decide(
            tournament=of, bot=bot, reason=sent["reason"], made_by=made_by, seen=sent["seen"]
        ),
    )


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
            f"Make {_named(block)} void",
            f"{capfirst(_named(block))} is void.",
            lambda: moderation.preview_void(block),
            lambda sent: moderation.void_block(
                block=block, reason=sent["reason"], made_by=made_by, seen=sent["seen"]
            ),
        )
    if action == "restore":
        return Decision(
            f"Let {_named(block)} count again",
            f"{capfirst(_named(block))} counts again.",
            lambda: moderation.preview_restore(block),
            lambda sent: moderation.restore_block(
                block=block, reason=sent["reason"], made_by=made_by, seen=sent["seen"]
            ),
        )
    later = LaterStages.AGAIN if action == "replay-stages" else LaterStages.KEEP
    return Decision(
        f"Play {_named(block)} again"
        + (", and all later stages" if later == LaterStages.AGAIN else ""),
        f"{capfirst(_named(block))} is void, and a new block of the same bots is open."
        + (" All later stages are void." if later == LaterStages.AGAIN else ""),
        lambda: moderation.preview_replay(block, later),
        lambda sent: moderation.play_again(
            block=block,
            reason=sent["reason"],
            made_by=made_by,
            later_stages=later,
            seen=sent["seen"],
        ),
    )


def decide(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    form: DecisionForm,
    decision: Decision,
    after: str = "",
) -> HttpResponse:
    """Show a preview with its confirmation; with POST do the work.

    Then go to the page ``after``, by default to the same page.
    """
    if request.method == "POST" and form.is_valid():
        try:
            decision.work(form.cleaned_data)
        except ValidationError as error:
            # The next attempt of the person is made with the new state in view.
            form.data = replaced(form.data, "seen", form.initial["seen"])
            add_errors(form, error)
        else:
            messages.success(request, decision.done)
            return redirect(after or request.path)
    try:
        preview = decision.preview()
        context |= {"preview": preview, "changes": _change_tables(preview)}
    except ValidationError as error:
        context["refusal"] = " ".join(error.messages)
    context |= {"form": form, "button": decision.button}
    return render(request, template, context, status=status_of(form))


def _change_tables(preview: moderation.Preview) -> list[ChangeTable]:
    """Return the tables of a preview that have rows."""
    places = [
        (row.bot, [*_ranks(row), decimals(row.score_now), decimals(row.score_then)])
        for row in preview.places
    ]
    ratings = [
        (row.bot, [_rating(row.rating_now), _rating(row.rating_then), *_ranks(row)])
        for row in preview.ratings
    ]
    tables = [
        ChangeTable("Places in the tournament", [*RANKS, "Score now", "Score then"], places),
        ChangeTable("Ratings on the ladder", ["Rating now", "Rating then", *RANKS], ratings),
    ]
    return [table for table in tables if table.rows]


def _ranks(row: moderation.PlaceChange | moderation.RatingChange) -> list[str]:
    return ["–" if rank is None else str(rank) for rank in (row.rank_now, row.rank_then)]


def _rating(rating: int | None) -> str:
    return "–" if rating is None else milli(rating)


def _named(block: Block) -> str:
    return f"block {block.number} of rating round {block.round.number}"
