"""Moving the seats of live matches whose bots run here: by a task, which thinks without a lock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from bots_sdk.sandbox.errors import SandboxUnavailableError
from engine.errors import MatchInterruptedError
from engine.games.game import State
from engine.referee import Answer, Player, ask
from league.bots.hosted_players import storable
from league.models import Bot, Match, MatchSeat, SeatLog
from league.play import bot_processes, retries
from league.play.clocks import Stopwatch
from league.play.live_match import Table
from league.play.match_logs import logs_of


class Choice(NamedTuple):
    """What the bot of a seat answered, and all that it has printed in the match if it is hosted."""

    seat: MatchSeat
    answer: Answer
    printed: str = ""


def house_player(seat: MatchSeat) -> Player:
    """Return the player of a seat that a house bot has."""
    from bots_sdk.reference import make_player

    return make_player(seat.bot.name)


def play_house_turns(match_id: int, *, player: Callable[[MatchSeat], Player] = house_player) -> int:
    """Move the seats played here as long as they are to move; return how many moves were made.

    Two that do so at once both think, and one makes the moves; an uploaded bot is asked by one
    after the other. No clock runs for a worker that is late; an uploaded bot has its seconds from
    when it is asked.

    Args:
        match_id: of a live match.
        player: makes the player of a seat that a house bot has.
    """
    made = 0
    while (asked := _asked(match_id)) is not None:
        match, plies, state, seats = asked
        try:
            with _hosted(match, seats) as hosted:
                if hosted is not None and (_asked(match_id) or (0, 0))[1] != plies:
                    continue  # another was faster while we waited
                choices = [_ask(state, seat, hosted, player) for seat in seats]
        except SandboxUnavailableError:
            retries.note_no_sandbox(match_id)
            return made
        except MatchInterruptedError:
            retries.note_broken_sandbox(match_id)
            return made
        made += _play(match_id, plies, choices)
    return made


@contextmanager
def _hosted(match: Match, seats: list[MatchSeat]) -> Iterator[bot_processes.Table | None]:
    """Give the processes of a match's uploaded bots, if any of them is asked."""
    if not any(seat.bot.kind == Bot.Kind.HOSTED for seat in seats):
        yield None
        return
    with bot_processes.table(match) as table:
        yield table


def _asked(match_id: int) -> tuple[Match, int, State, list[MatchSeat]] | None:
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
    return (match, log.plies, log.state, seats) if seats else None


def _ask(
    state: State,
    seat: MatchSeat,
    hosted: bot_processes.Table | None,
    player: Callable[[MatchSeat], Player],
) -> Choice:
    """Return what the bot of a seat answers."""
    if hosted is None or seat.bot.kind != Bot.Kind.HOSTED:
        return Choice(seat, ask(state, seat.seat, player(seat)))
    bot = hosted.bot(seat)
    return Choice(seat, ask(state, seat.seat, bot, hosted.clock), bot.printed_text)


def _play(match_id: int, plies: int, choices: list[Choice]) -> int:
    """Make moves that were thought of at a ply, unless the match has gone on since."""
    with transaction.atomic(durable=True):
        table = Table.locked(match_id, Stopwatch(timezone.now()))
        if table is None or not table.is_playing or table.match.plies != plies:
            return 0
        made = 0
        for choice in choices:
            seat = choice.seat.seat
            if seat not in table.undecided:
                continue
            made += 1
            _note(choice, table.ply_of(seat))
            if choice.answer.fault:
                table.choose_fallback(seat, choice.answer.fault)
            else:
                table.choose(seat, choice.answer.action)
        table.go_on()
        table.write()
    return made


def _note(choice: Choice, ply: int) -> None:
    """Keep what an uploaded bot printed and did wrong for its owner."""
    fault, printed = choice.answer.fault, choice.printed
    if choice.seat.bot.kind != Bot.Kind.HOSTED or not (printed or fault):
        return
    log, _ = SeatLog.objects.get_or_create(seat=choice.seat)
    if fault:
        log.reasons[str(ply)] = storable(choice.answer.reason)
    log.printed = printed or log.printed
    log.save()
