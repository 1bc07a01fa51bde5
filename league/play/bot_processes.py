"""Processes of hosted bots in live matches: a worker keeps them between moves.

If a bot's process is gone, because its worker started again, a new process continues in mid-match
without the bot's memory. Its observation has everything that was public.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from engine.errors import MatchInterruptedError
from league.bots import jails
from league.bots.hosted_players import HostedBot, info_for
from league.models import Match, MatchSeat
from league.play.hosted_clocks import HostedClock
from league.play.rows import MatchRow

MAX_MATCHES = 60
"""Matches whose processes are kept; a process takes about 10 MB."""
CLEAN_UP_EVERY = 10.0
"""Seconds between two searches for matches that are over."""


class BotProcesses:
    """The processes of a live match's hosted bots. One thread at a time uses them.

    Attributes:
        clock: of their seats; it starts when this worker first needs a move.
    """

    def __init__(self, match: MatchRow) -> None:
        self._match = match
        self._bots: dict[int, HostedBot] = {}
        self.lock = Lock()
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

    def close(self) -> None:
        """End all processes of the match."""
        while self._bots:
            self._bots.popitem()[1].close()


_kept: OrderedDict[tuple[int, int], BotProcesses] = OrderedDict()
_lock = Lock()
_cleaned_up = 0.0


@contextmanager
def processes_of(match: MatchRow) -> Iterator[BotProcesses]:
    """Give one thread at a time the processes of a live match's hosted bots."""
    _close_finished_matches()
    key = (match.pk, match.attempts)
    with _lock:
        found = _kept.setdefault(key, BotProcesses(match))
        _kept.move_to_end(key)
        spare = list(_kept)[: max(0, len(_kept) - MAX_MATCHES)]
        idle = [_kept.pop(key) for key in spare if _kept[key].lock.acquire(blocking=False)]
    for old in idle:
        old.close()
    with found.lock:
        yield found


def close_all() -> None:
    """End the processes of all matches."""
    with _lock:
        all_kept = list(_kept.values())
        _kept.clear()
    for old in all_kept:
        with old.lock:
            old.close()


def _close_finished_matches() -> None:
    global _cleaned_up
    with _lock:
        now = time.monotonic()
        if now < _cleaned_up + CLEAN_UP_EVERY:
            return
        _cleaned_up = now
        match_ids = {match_id for match_id, _ in _kept}
    in_play = Match.objects.playing().filter(pk__in=match_ids)
    playing = set(in_play.values_list("pk", flat=True))
    with _lock:
        over = [key for key in _kept if key[0] in match_ids - playing]
        idle = [_kept.pop(key) for key in over if _kept[key].lock.acquire(blocking=False)]
    for old in idle:
        old.close()
