"""Moving the seats of live matches whose bots run here: by a task, which thinks without a lock."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from engine.errors import IllegalMoveError, MatchInterruptedError
from engine.games.game import State
from engine.referee import Player
from league.models import Bot, Match, MatchSeat
from league.play.clocks import Stopwatch
from league.play.logs import logs_of
from league.play.table import Table


def house_player(seat: MatchSeat) -> Player:
    """Return the player of a seat that a house bot has."""
    from bots_sdk.reference import make_player

    return make_player(seat.bot.name)


def play_house_turns(match_id: int, *, player: Callable[[MatchSeat], Player] = house_player) -> int:
    """Move the seats played here as long as they are to move; return how many moves were made.

    Two that do so at once both think, and one makes the moves. No clock runs for these seats:
    that a worker is late is no bot's fault.

    Args:
        match_id: of a live match.
        player: makes the player of a seat.
    """
    made = 0
    while (asked := _asked(match_id)) is not None:
        plies, state, seats = asked
        try:
            choices = [(seat.seat, *_ask(state, seat.seat, player(seat))) for seat in seats]
        except MatchInterruptedError:
            return made
        made += _play(match_id, plies, choices)
    return made


def _asked(match_id: int) -> tuple[int, State, list[MatchSeat]] | None:
    """Return where a match stands and which seats are to be moved here, or None if none is."""
    match = Match.objects.filter(pk=match_id, live=True, status=Match.Status.PLAYING).first()
    log = match and logs_of([match]).get(match_id)
    if not match or not log:
        return None
    chosen = set(match.live_moves.filter(ply__gte=match.plies).values_list("seat", flat=True))
    undecided = [seat for seat in log.state.actors if seat not in chosen]
    seats = list(
        match.seating.filter(seat__in=undecided)
        .exclude(bot__kind=Bot.Kind.REMOTE)
        .select_related("bot", "version")
    )
    return (log.plies, log.state, seats) if seats else None


def _ask(state: State, seat: int, player: Player) -> tuple[int, str]:
    """Return a player's action, or what kind of fault its answer is."""
    try:
        answer: object = player(state.observe(seat))
    except MatchInterruptedError:
        raise
    except (Exception, SystemExit):
        return -1, "crash"
    if not isinstance(answer, str):
        return -1, "illegal"
    try:
        return state.parse(seat, answer), ""
    except IllegalMoveError:
        return -1, "illegal"


def _play(match_id: int, plies: int, choices: list[tuple[int, int, str]]) -> int:
    """Make moves that were thought of at a ply, unless the match has gone on since."""
    with transaction.atomic(durable=True):
        table = Table.locked(match_id, Stopwatch(timezone.now()))
        if table is None or not table.is_playing or table.match.plies != plies:
            return 0
        made = 0
        for seat, action, fault in choices:
            if seat not in table.undecided:
                continue
            made += 1
            if fault:
                table.choose_fallback(seat, fault)
            else:
                table.choose(seat, action)
        table.go_on()
        table.write()
    return made
