"""Mixed tables: a task moves the seats of house and hosted bots in live matches.

The bots think without a lock. Their moves then go the route of every move, `league.play.writing`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple

import structlog
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from bots_sdk.reference import make_player
from bots_sdk.sandbox.errors import SandboxUnavailableError
from engine.errors import MatchInterruptedError
from engine.games.game import State
from engine.referee import Answer, Player, ask
from league.models import Bot, MatchSeat
from league.play import bot_processes, sandbox_failures
from league.play.bot_processes import BotProcesses
from league.play.live_match import Decision, LiveMatch
from league.play.owner_shares import OwnerShares
from league.play.rows import MatchRow
from league.play.turn_clocks import Stopwatch
from league.play.writing import change_matches, read_matches
from league.queueing import queue

log = structlog.get_logger(__name__)


class Pending(NamedTuple):
    """The seats of a live match that a worker is to move.

    Attributes:
        match: its row; ``plies`` is the length of the log.
        state: after the log.
        seats: with their bots.
    """

    match: MatchRow
    state: State
    seats: list[MatchSeat]

    @property
    def owners(self) -> set[int]:
        """The ids of the owners whose hosted bots are to move; the house owns no bot."""
        return {owner for seat in self.seats if (owner := seat.bot.owner_id) is not None}


class Choice(NamedTuple):
    """The answer of a seat's bot, with everything that a hosted bot has printed in the match."""

    seat: MatchSeat
    answer: Answer
    printed: str = ""


def house_player(seat: MatchSeat) -> Player:
    """Return the player of a house bot's seat, or of the seat of a player who left."""
    return make_player((seat.substitute or seat.bot).name)


def play_house_turns(match_id: int, *, player: Callable[[MatchSeat], Player] = house_player) -> int:
    """Move the seats of house and hosted bots while they are to move; return the number of moves.

    If a thread of this process does so already, this call returns 0 at once, and that thread looks
    for turns again before it ends. So copies of a task cost no thread. If two processes do so, the
    moves of one count. A late worker costs no bot any time: a hosted bot's seconds begin when it
    receives the observation.

    If an owner's hosted bots hold all threads that one owner may have, the match waits, and the
    next of those threads that becomes free plays it.

    Args:
        match_id: id of a live match.
        player: makes the player of a house bot's seat.
    """
    todo, made = [match_id], 0
    try:
        while todo:
            made += _play_match(todo.pop(0), player, todo)
    except BaseException:
        for other in todo:
            queue("play_house_turns", other)
        raise
    return made


def _play_match(match_id: int, player: Callable[[MatchSeat], Player], todo: list[int]) -> int:
    """Move the seats of a match; add the ids of matches that may go on to a list."""
    if not _begin(match_id):
        return 0
    try:
        made = _play_pending(match_id, player, todo)
        while _is_to_look_again(match_id):
            made += _play_pending(match_id, player, todo)
    except BaseException:
        _look_again.pop(match_id, None)
        raise
    return made


MAX_THREADS_PER_OWNER = 8
"""A quarter of the threads of a worker for the queue ``seats``."""
_shares = OwnerShares(MAX_THREADS_PER_OWNER)
_look_again: dict[int, bool] = {}
"""By match that a thread plays: whether another call came meanwhile."""
_lock = Lock()


def _begin(match_id: int) -> bool:
    """Return whether this thread is to play a match; if not, the one that does looks again."""
    with _lock:
        is_first = match_id not in _look_again
        _look_again[match_id] = not is_first
        return is_first


def _is_to_look_again(match_id: int) -> bool:
    """Return whether to look for turns again; if not, this thread no longer plays the match."""
    with _lock:
        if _look_again[match_id]:
            _look_again[match_id] = False
            return True
        del _look_again[match_id]
        return False


def _play_pending(match_id: int, player: Callable[[MatchSeat], Player], todo: list[int]) -> int:
    made = 0
    while (pending := _pending(match_id)) is not None:
        plies = pending.match.plies
        owners = pending.owners
        if not _shares.take(owners, match_id):
            return made
        try:
            with _processes(pending) as hosted:
                if hosted is not None and not _is_pending(match_id, plies):
                    continue  # another task was faster while this one waited
                choices = [_choose(pending.state, seat, hosted, player) for seat in pending.seats]
        except SandboxUnavailableError:
            sandbox_failures.note_no_sandbox(match_id)
            return made
        except MatchInterruptedError as error:
            log.warning(
                "a move was interrupted by its sandbox", match_id=match_id, error=str(error)
            )
            sandbox_failures.note_broken_sandbox(match_id)
            return made
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            log.exception("a move failed", match_id=match_id)
            sandbox_failures.note_failed_move(match_id, type(error).__name__)
            return made
        finally:
            todo += _shares.give_back(owners)
        plans = {match_id: lambda match, at=plies, made=choices: _play(match, at, made)}
        made += change_matches(plans, Stopwatch(timezone.now())).get(match_id, 0)
    return made


@contextmanager
def _processes(pending: Pending) -> Iterator[BotProcesses | None]:
    """Give the processes of a match's hosted bots, if one of them is to move."""
    if not any(seat.bot.kind == Bot.Kind.HOSTED for seat in pending.seats):
        yield None
        return
    with bot_processes.processes_of(pending.match) as processes:
        yield processes


def _pending(match_id: int) -> Pending | None:
    """Return the seats that a worker is to move, or None."""
    match = read_matches([match_id], timezone.now()).get(match_id)
    if match is None or not match.is_playing or match.is_stale:
        return None
    seats = list(
        MatchSeat.objects.filter(
            match=match_id, seat__in=[at for at in match.undecided if not match.waits_for(at)]
        )
        .select_related("bot", "version", "substitute")
        .order_by("seat")
    )
    return Pending(match.match, match.log.state, seats) if seats else None


def _is_pending(match_id: int, plies: int) -> bool:
    """Return whether a worker is still to move seats at a ply."""
    pending = _pending(match_id)
    return pending is not None and pending.match.plies == plies


def _choose(
    state: State,
    seat: MatchSeat,
    hosted: BotProcesses | None,
    player: Callable[[MatchSeat], Player],
) -> Choice:
    """Return the choice of a seat's bot."""
    if hosted is None or seat.bot.kind != Bot.Kind.HOSTED:
        return Choice(seat, ask(state, seat.seat, player(seat)))
    bot = hosted.bot(seat)
    return Choice(seat, ask(state, seat.seat, bot, hosted.clock), bot.printed_text)


def _play(match: LiveMatch, plies: int, choices: Sequence[Choice]) -> Decision[int]:
    """Decide to make the choices of a ply, unless the match has advanced since.

    The decision's answer is the number of moves.
    """
    if not match.is_playing or match.match.plies != plies:
        return match.decision(0)
    made = 0
    for choice in choices:
        seat, answer = choice.seat.seat, choice.answer
        if seat not in match.undecided:
            continue
        made += 1
        if choice.seat.bot.kind == Bot.Kind.HOSTED and (choice.printed or answer.fault):
            match.note(
                seat=seat,
                printed=choice.printed,
                reason=answer.reason if answer.fault else None,
            )
        if answer.fault:
            match.choose_fallback(seat, answer.fault)
        else:
            match.choose_by_worker(seat, answer.action)
    return match.decision(made)
