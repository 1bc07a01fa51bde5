"""Hosted bots in live matches: their processes are kept between moves, in the worker that asks.

A bot whose process is gone, as its worker was started again, begins anew in mid-match and has
forgotten what it knew; its observation tells it all that was public.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from engine.errors import MatchInterruptedError
from engine.referee import MatchClock, TimeControl
from league.bots import jails
from league.bots.hosted_players import HostedBot, match_info
from league.models import Match, MatchSeat

MAX_MATCHES = 60
"""Whose bots are kept; at about 10 MB a bot."""
LOOK_EVERY = 10.0
"""Seconds; matches that are over are looked for no more often."""


class Table:
    """The hosted bots of a live match. One thread at a time has it, see `tables`.

    Attributes:
        clock: of their seats, from where this worker first asked.
    """

    def __init__(self, match: Match) -> None:
        self._match = match
        self._bots: dict[int, HostedBot] = {}
        self.lock = Lock()
        control = TimeControl(match.move_seconds, match.bank_seconds)
        self.clock = MatchClock(control, match.seats, time.monotonic)

    def bot(self, seat: MatchSeat) -> HostedBot:
        """Return the bot of a seat, started if it isn't running.

        Raises:
            SandboxUnavailableError: no sandbox holds here.
            SandboxBrokenError: its process can't be started.
        """
        number = seat.seat
        if number not in self._bots:
            self._bots[number] = HostedBot(
                jails.jail(),
                seat.version,
                match_info(self._match, number),
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
        """End all processes."""
        while self._bots:
            self._bots.popitem()[1].close()


_tables: OrderedDict[tuple[int, int], Table] = OrderedDict()
_lock = Lock()
_looked = 0.0


@contextmanager
def table(match: Match) -> Iterator[Table]:
    """Give the hosted bots of a live match, to one thread at a time."""
    _close_what_is_over()
    key = (match.pk, match.attempts)
    with _lock:
        found = _tables.setdefault(key, Table(match))
        _tables.move_to_end(key)
        spare = list(_tables)[: max(0, len(_tables) - MAX_MATCHES)]
        idle = [_tables.pop(key) for key in spare if _tables[key].lock.acquire(blocking=False)]
    for old in idle:
        old.close()
    with found.lock:
        yield found


def close_all() -> None:
    """End the processes of all matches."""
    with _lock:
        kept = list(_tables.values())
        _tables.clear()
    for old in kept:
        with old.lock:
            old.close()


def _close_what_is_over() -> None:
    global _looked
    with _lock:
        now = time.monotonic()
        if now < _looked + LOOK_EVERY:
            return
        _looked = now
        kept = {match for match, _ in _tables}
    playing = set(
        Match.objects.filter(pk__in=kept, status=Match.Status.PLAYING).values_list("pk", flat=True)
    )
    with _lock:
        over = [key for key in _tables if key[0] in kept - playing]
        idle = [_tables.pop(key) for key in over if _tables[key].lock.acquire(blocking=False)]
    for old in idle:
        old.close()
