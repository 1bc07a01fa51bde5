"""Processes of hosted bots in live matches: a worker keeps them between moves.

If a bot's process is gone, because its worker started again, a new process continues in mid-match
without the bot's memory. Its observation has everything that was public.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread

import structlog
from django.db import DatabaseError, connection

from engine.errors import MatchInterruptedError
from league.bots import jails
from league.bots.hosted_clocks import HostedClock
from league.bots.hosted_players import HostedBot, info_for
from league.models import Match, MatchSeat
from league.play.rows import MatchRow

log = structlog.get_logger(__name__)

MAX_MATCHES = 60
"""Matches whose processes are kept; a process takes about 10 MB."""
MAX_RESIDENT_BYTES = 1 << 30
"""Memory that the kept processes may take together; above it, those used least recently end."""
CLEAN_UP_EVERY = 2.0
"""Seconds between two searches for matches that are over."""


class BotProcesses:
    """The processes of a live match's hosted bots. One thread at a time uses them.

    Attributes:
        clock: of their seats; it starts when this worker first needs a move.
        resident: bytes of memory that the processes took after their last move.
    """

    def __init__(self, match: MatchRow) -> None:
        self._match = match
        self._bots: dict[int, HostedBot] = {}
        self.lock = Lock()
        self.resident = 0
        self.clock = HostedClock(match)
        self.clock.players = self._bots

    def bot(self, seat: MatchSeat) -> HostedBot:
        """Return the bot of a seat; start its process if it is not running.

        Raises:
            SandboxUnavailableError: this worker has no sandbox.
            SandboxBrokenError: its process can't be started.
        """
        number = seat.seat
        if number not in self._bots:
            self._bots[number] = HostedBot(
                jails.jail(),
                seat.version,
                info_for(self._match, number),
                allowance=lambda: self.clock.allowance(number),
            )
            try:
                self._bots[number].load()
            except MatchInterruptedError:
                self.close()
                jails.distrust()
                raise
        return self._bots[number]

    def measure(self) -> None:
        """Store the memory that the processes take."""
        self.resident = sum(bot.resident() for bot in self._bots.values())

    def close(self) -> None:
        """End all processes of the match."""
        self.resident = 0
        while self._bots:
            self._bots.popitem()[1].close()


_kept: OrderedDict[tuple[int, int], BotProcesses] = OrderedDict()
_lock = Lock()
_cleaner: Thread | None = None


@contextmanager
def processes_of(match: MatchRow) -> Iterator[BotProcesses]:
    """Give one thread at a time the processes of a live match's hosted bots."""
    key = (match.pk, match.attempts)
    while True:
        with _lock:
            found = _kept.setdefault(key, BotProcesses(match))
            _kept.move_to_end(key)
            idle = _pop_idle(_spare())
            _start_cleaner()
        for old in idle:
            old.close()
        with found.lock:
            with _lock:
                if _kept.get(key) is not found:
                    continue  # another thread took them away meanwhile
            try:
                yield found
            finally:
                found.measure()
            return


def _spare() -> list[tuple[int, int]]:
    """Return the matches to end so that the limits hold, those used least recently first."""
    matches, resident = len(_kept), sum(each.resident for each in _kept.values())
    found = []
    for key, each in list(_kept.items())[:-1]:  # not the one in use
        if matches <= MAX_MATCHES and resident <= MAX_RESIDENT_BYTES:
            break
        found.append(key)
        matches, resident = matches - 1, resident - each.resident
    return found


def close_all() -> None:
    """End the processes of all matches."""
    with _lock:
        all_kept = list(_kept.values())
        _kept.clear()
    for old in all_kept:
        with old.lock:
            old.close()


def close_finished_matches() -> None:
    """End the processes of matches that are over, or that began anew."""
    with _lock:
        keys = set(_kept)
    in_play = Match.objects.playing().filter(pk__in={match_id for match_id, _ in keys})
    over = keys.difference(in_play.values_list("pk", "attempts"))
    with _lock:
        idle = _pop_idle(over)
    for old in idle:
        old.close()


def _pop_idle(keys: Iterable[tuple[int, int]]) -> list[BotProcesses]:
    """Take away and return those processes of some matches that no thread uses.

    Call it with `_lock` held. A thread that waited for them looks again, so it does not use them.
    """
    idle = []
    for key in keys:
        if key in _kept and _kept[key].lock.acquire(blocking=False):
            idle.append(_kept.pop(key))
            idle[-1].lock.release()
    return idle


def _start_cleaner() -> None:
    """Start the thread that ends the processes of matches that are over.

    Most matches end elsewhere, by the move of a remote bot or of a player.
    """
    global _cleaner
    if _cleaner is None or not _cleaner.is_alive():
        _cleaner = Thread(target=_clean_up, name="processes of finished matches", daemon=True)
        _cleaner.start()


def _clean_up() -> None:
    """Look for finished matches while processes are kept."""
    global _cleaner
    failed = False
    while True:
        time.sleep(CLEAN_UP_EVERY)
        with _lock:
            if not _kept:
                _cleaner = None
                return
        try:
            close_finished_matches()
            failed = False
        except Exception as error:  # one line for an outage, however long it is
            if not failed:
                log.warning(
                    "finished matches could not be read",
                    error=str(error),
                    exc_info=not isinstance(error, DatabaseError),
                )
            failed = True
        finally:
            connection.close()
