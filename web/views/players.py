"""Play against bots: sit down, move, leave, and invite others by a link. docs/play.md explains it.

A player is known by the play token of the table, which a cookie for the table's address holds, or
by the account.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from league import competitions, play
from league.competitions import player_tables
from league.competitions.revisions import table_revisions
from league.models import Match, PlayerTable, SeatedPlayer
from web import player_page
from web.forms import add_errors
from web.play_forms import JoinForm, TableForm
from web.requests import visitor, whole_number
from web.throttled import limited

_COOKIE = "seat"
_FIRST_PRESETS = {"twelve-days": "calliope", "partridge": "eagle-short"}
"""The presets of the buttons that start a match at once."""


@never_cache
@limited("tables")
def new_table(request: HttpRequest) -> HttpResponse:
    """Sit down: choose the game and the opponents, and start."""
    initial = {name: request.GET[name] for name in TableForm.offered if name in request.GET}
    form = TableForm(request.POST or None, initial=initial)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                table, token = competitions.open_table(user=visitor(request), **form.table())
            except ValidationError as error:
                add_errors(form, error)
                if getattr(error, "code", "") == "too-many-tables":
                    status = 503
            else:
                return _seated(request, table, token)
    games = {
        game: player_page.rules_in_short(game, rules) for game, rules in _FIRST_PRESETS.items()
    }
    context = {"form": form, "games": games}
    return render(request, "web/play/new.html", context, status=status)


@require_safe
@never_cache
def table(request: HttpRequest, code: str) -> HttpResponse:
    """Show a table: its waiting room, the match as the player sees it, or the result."""
    found = _find(code)
    # Read first: what changes from here on has another revision.
    revision = table_revisions([code], timezone.now()).get(code)
    player = _player(request, found)
    match = player_tables.match_of(found)
    name, rules = player_page.rules_in_short(found.game, found.rules)
    context: dict[str, Any] = {
        "table": found,
        "player": player,
        "match": match,
        "revision": revision,
        "game_name": name,
        "game_rules": rules,
    }
    if match is None:
        return _waiting_room(request, context)
    if player is None:
        return redirect("web:match", match.pk)
    seat = match.seating.select_related("bot", "substitute").get(bot=player.bot_id)
    context["seat"] = seat
    if match.status == Match.Status.PLAYING:
        in_play = player_page.playing(match, seat, code, wants_hint="hint" in request.GET)
        if in_play is not None:
            token = request.COOKIES.get(_COOKIE, "")
            if player_tables.player_with(found, token, None) is None:
                # The account alone shows who it is, so the browser gets a token.
                token = player_tables.renew_token(player)
            response = render(request, "web/play/table.html", context | in_play | {"token": token})
            return _set_cookie(request, response, found, token)
        match.refresh_from_db()
        seat.refresh_from_db()
    if match.status == Match.Status.FINISHED:
        context |= player_page.finished(match, seat)
        context["days"] = settings.PLAYER_MATCH_DAYS
        return render(request, "web/play/over.html", context)
    return render(request, "web/play/pending.html", context)


@require_safe
@never_cache
def table_view(request: HttpRequest, code: str) -> HttpResponse:
    """Return what is new at a table for its script, as JSON: the phases after ``after``.

    ``panel`` is the part of the page with the moves. ``state`` is ``playing``; at any other state
    the script loads the page again.
    """
    found = _find(code)
    player, match = _needed_player(request, found), _needed_match(found)
    seat = match.seating.select_related("bot", "substitute").get(bot=player.bot_id)
    in_play = player_page.playing(match, seat, code, wants_hint="hint" in request.GET)
    if in_play is None:
        return JsonResponse({"state": "over"})
    after = whole_number(request.GET.get("after", ""))
    answer = player_page.as_json(in_play, seat.seat, -1 if after is None else after)
    panel = render_to_string("web/play/panel.html", in_play | {"table": found}, request)
    return JsonResponse(answer | {"panel": panel})


@require_POST
@never_cache
def move(request: HttpRequest, code: str) -> HttpResponse:
    """Make the player's move, by the same route as a bot's move."""
    found = _find(code)
    player, match = _needed_player(request, found), _needed_match(found)
    turn = whole_number(request.POST.get("turn", ""))
    text = request.POST.get("move", "")
    if turn is None or not text:
        messages.error(request, "Choose one of the moves.")
        return redirect("web:table", code)
    try:
        play.submit(player.bot, play.Move(match.pk, turn, text[:40]), timezone.now())
    except play.MoveRefusedError as error:
        messages.error(request, _refusal(error))
    return redirect("web:table", code)


@require_POST
@never_cache
def leave(request: HttpRequest, code: str) -> HttpResponse:
    """Hand the player's seat over to a house bot."""
    found = _find(code)
    player = _needed_player(request, found)
    if competitions.leave_table(player):
        messages.success(request, "You left. A house bot plays your seat to the end.")
    elif player_tables.match_of(found) is None:
        messages.success(request, "You left the table.")
        return redirect("web:play")
    return redirect("web:table", code)


@never_cache
@require_POST
@limited("tables")
def join(request: HttpRequest, code: str) -> HttpResponse:
    """Sit down at a table that waits for players."""
    found = _find(code)
    if _player(request, found) is not None:
        return redirect("web:table", code)
    form = JoinForm(request.POST)
    nickname = form.cleaned_data["nickname"] if form.is_valid() else ""
    try:
        token = competitions.join_table(found, nickname=nickname, user=visitor(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("web:table", code)
    return _seated(request, found, token)


@never_cache
@require_POST
def start(request: HttpRequest, code: str) -> HttpResponse:
    """Start the match of a table; bots take its empty seats."""
    found = _find(code)
    _needed_player(request, found)
    try:
        competitions.start_table(found)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("web:table", code)


@never_cache
@require_POST
def keep(request: HttpRequest, code: str) -> HttpResponse:
    """Keep the match of a table."""
    found = _find(code)
    _needed_player(request, found)
    competitions.keep_table(found)
    messages.success(request, "The league keeps this match.")
    return redirect("web:table", code)


@never_cache
@require_POST
@limited("tables")
def again(request: HttpRequest, code: str) -> HttpResponse:
    """Start another match with the same settings."""
    found = _find(code)
    player = _needed_player(request, found)
    try:
        made, token = competitions.open_table(
            game=found.game,
            rules=found.rules,
            seats=found.seats,
            opponents=found.bots[: found.seats - 1],
            nickname=player.nickname,
            user=visitor(request),
            has_clock=found.has_clock,
            waits=found.players.count() > 1,
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("web:play")
    return _seated(request, made, token)


def _waiting_room(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    found: PlayerTable = context["table"]
    if player_tables.is_over(found, timezone.now()):
        raise Http404("This table is closed.")
    people = list(found.players.all())
    context |= {
        "people": people,
        "filled": found.bots[: found.seats - len(people)],
        "link": request.build_absolute_uri(reverse("web:table", args=[found.code])),
        "form": JoinForm(),
        "is_full": len(people) >= found.seats,
    }
    return render(request, "web/play/room.html", context)


def _find(code: str) -> PlayerTable:
    return get_object_or_404(PlayerTable, code=code)


def _player(request: HttpRequest, found: PlayerTable) -> SeatedPlayer | None:
    return player_tables.player_with(found, request.COOKIES.get(_COOKIE, ""), visitor(request))


def _needed_player(request: HttpRequest, found: PlayerTable) -> SeatedPlayer:
    player = _player(request, found)
    if player is None:
        raise Http404("You have no seat at this table.")
    return player


def _needed_match(found: PlayerTable) -> Match:
    match = player_tables.match_of(found)
    if match is None:
        raise Http404("The match has not started yet.")
    return match


def _refusal(error: play.MoveRefusedError) -> str:
    texts = {
        "turn-already-decided": "This turn is over; here is the table as it is now.",
        "turn-not-open": "It is not your turn now; here is the table as it is now.",
        "turn-expired": "The time for this move was over, so the referee played for you.",
        "illegal-move": "This move is not possible now. Choose one of the moves shown.",
    }
    return texts.get(error.code, str(error))


def _seated(request: HttpRequest, found: PlayerTable, token: str) -> HttpResponse:
    """Redirect to a table with the cookie of the player's seat."""
    return _set_cookie(request, redirect("web:table", found.code), found, token)


def _set_cookie(
    request: HttpRequest, response: HttpResponse, found: PlayerTable, token: str
) -> HttpResponse:
    response.set_cookie(
        _COOKIE,
        token,
        max_age=settings.PLAYER_MATCH_DAYS * 86_400,
        path=reverse("web:table", args=[found.code]),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response
