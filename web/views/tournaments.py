"""The pages of tournaments: one tournament and the forms to enter and withdraw."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engine.pairing import rounds_opened
from league import competitions
from league.competitions.history import history_of
from league.competitions.revisions import tournament_revisions
from league.competitions.tournament_standings import bracket_of, standings_of
from league.models import Block, Match, Round, Tournament
from league.visibility import public_seed
from web import event_story, tournament_page
from web.requests import form_of_a_person, page_of, visitor, whole_number
from web.selectors.rounds import blocks_of, progress_of
from web.selectors.tournaments import (
    bots_left,
    bots_to_enter,
    bots_to_withdraw,
    house_bots_to_play,
    next_on_ladder,
)
from web.tournament_match import match_to_watch
from web.views.bots import own_bot

_BLOCKS = 20


@require_safe
def tournament(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a tournament: its times, standings, bracket or cross table, and one of its rounds."""
    found = get_object_or_404(Tournament.objects.select_related("ladder"), pk=pk)
    # Before its start nothing but a countdown runs, which loads the page again at its end.
    live = found.state == Tournament.State.RUNNING or (
        found.state == Tournament.State.ENTRIES_OPEN and found.starts_at <= timezone.now()
    )
    # Read first: what changes from here on has another revision.
    revision = tournament_revisions([pk]).get(pk) if live else None
    history = history_of(found)
    placed = standings_of(history)
    rows = tournament_page.standings_rows(placed)
    drawn = [*history.opened, *history.set_aside]
    progress = progress_of(drawn)
    shown = _round_shown(request, drawn, len(history.opened))
    user = visitor(request)
    names = tournament_page.round_names(history)
    bracket = bracket_of(history)
    context: dict[str, Any] = {
        "tournament": found,
        "screen": request.GET.get("view") == "screen",
        "now": event_story.now(history, [name for _, name in names]),
        "playing": event_story.playing(history),
        "to_watch": match_to_watch(history, placed, names[len(history.opened) - 1][1])
        if history.opened
        else None,
        "following": next_on_ladder(found),
        "in_short": event_story.in_short(found),
        "takes_entries": competitions.takes_entries(found),
        "undrawn": []
        if history.is_over
        else event_story.undrawn_stages(bracket, found.ladder.seats),
        "begun": any(one.row.blocks for one in placed),
        "description": tournament_page.description_of(history),
        "standings": rows,
        "ranked": tournament_page.ranked(rows),
        "bracket": bracket,
        "left": bots_left(bracket),
        "crossed": tournament_page.cross_table(history, placed),
        "rounds": [
            (number, round_, name, progress[round_.pk])
            for number, (round_, name) in enumerate(names, 1)
        ],
        "opened": rounds_opened(history.rounds),
        "length": tournament_page.planned_rounds(history),
        "shown": shown,
        "seed": public_seed(found),
        "live": live,
        "revision": revision,
        "house_bots": house_bots_to_play(found),
        "to_enter": bots_to_enter(user, found),
        "to_withdraw": bots_to_withdraw(user, history),
    }
    if shown is not None:
        context["byes"] = tournament_page.byes_of(history, shown)
        context["blocks"] = blocks = page_of(request, blocks_of(shown), _BLOCKS)
        context["begun_blocks"] = [each for each in blocks if not _waits(each)]
        context["waiting_blocks"] = len(blocks) - len(context["begun_blocks"])
    return render(request, "web/tournament.html", context)


def _waits(block: Block) -> bool:
    """Return whether no match of a block, which has its matches prefetched, has begun."""
    matches = block.matches.all()
    return bool(matches) and all(each.status == Match.Status.WAITING for each in matches)


@form_of_a_person
def tournament_entry(request: HttpRequest, pk: int) -> HttpResponse:
    """Enter a bot for a tournament."""
    return _change_entry(request, pk, competitions.enter, "is entered")


@form_of_a_person
def tournament_withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw a bot from a tournament."""
    return _change_entry(request, pk, competitions.withdraw, "is withdrawn")


def _change_entry(
    request: HttpRequest, pk: int, change: Callable[..., object], done: str
) -> HttpResponse:
    """Enter or withdraw the bot that a form names, and return to the tournament's page."""
    found = get_object_or_404(Tournament, pk=pk)
    bot = own_bot(request, request.POST.get("bot", ""))
    try:
        change(tournament=found, bot=bot)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"{bot} {done}.")
    return redirect("web:tournament", pk=pk)


def _round_shown(request: HttpRequest, rounds: list[Round], last: int) -> Round | None:
    """Return the round at the place in the query, or else the last one that counts."""
    number = whole_number(request.GET.get("round", "")) or 0
    if 1 <= number <= len(rounds):
        return rounds[number - 1]
    return rounds[last - 1] if last else None
