"""The clock: a thread that gives lost time back and plays for seats whose deadline has passed.

It depends on the database alone: neither beat nor the broker can stop it. Each worker of the queue
``clock`` has one. Several clocks do no harm, as all they do is safe to do twice.
"""

import math
import threading
import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from redis.exceptions import RedisError

from league import heartbeats
from league.play import outages
from league.play.doors import TIMEOUT_SECONDS, Doors
from league.play.overdue_turns import expire_overdue

log = structlog.get_logger(__name__)

EVERY_SECONDS = 0.4
"""Time between two passes of the clock, well below `league.play.outages.MAX_GAP`."""
REST_SECONDS = 2.0
"""The same while no live match is unfinished, so that no turn opens in a moment.

`/readyz` allows twice as much. A match may begin during the pause, and a deadline may pass before
the next pass. A move that comes later is then accepted: when it is checked, the clock seems to have
stopped."""
ALIVE_SECONDS = 1.0
"""Time between two heartbeats."""
MAX_EXPIRING_SECONDS = 0.4
"""Time that a pass plays in overdue turns; the next pass continues."""


class ClockThread(threading.Thread):
    """Runs the clock until `stop` is called."""

    def __init__(self, doors: Doors | None = None) -> None:
        super().__init__(name="clock", daemon=True)
        self._doors = Doors(settings.PROBE_URL) if doors is None else doors
        self._stopping = threading.Event()
        self._fault = ""
        self._noted_at = -math.inf
        self._waited = timedelta(0)
        self._rests = False

    def stop(self) -> None:
        """End the thread after its pass, and wait for that."""
        self._stopping.set()
        self.join()

    def run(self) -> None:
        """Make a pass every `EVERY_SECONDS`, or `REST_SECONDS` while no live match is unfinished.

        A pass that fails does not end the clock.
        """
        try:
            while not self._stopping.wait(REST_SECONDS if self._rests else EVERY_SECONDS):
                self._try_pass()
        finally:
            self._doors.close()
            connection.close()

    def _try_pass(self) -> None:
        """Make a pass; log the first of several failures, and the end of them."""
        try:
            self._rests = False
            _, self._waited, self._rests = do_pass(timezone.now(), self._doors, self._waited)
        except Exception as error:
            connection.close()
            fault = type(error).__name__
            if fault != self._fault:
                is_away = isinstance(error, DatabaseError)
                (log.warning if is_away else log.exception)(
                    "the clock can't run; it tries again",
                    error=" ".join(str(error).split()),
                )
            self._fault = fault
        else:
            if self._fault:
                log.warning("the clock runs again")
            self._fault = ""
            self._note_alive()

    def _note_alive(self) -> None:
        """Store a heartbeat for `/readyz` each second, if the cache can be reached."""
        if time.monotonic() - self._noted_at >= ALIVE_SECONDS:
            self._noted_at = time.monotonic()
            with suppress(RedisError):
                heartbeats.note_part("deadlines")


class Pass(NamedTuple):
    """What a pass of the clock did.

    Attributes:
        played: the number of turns in which the referee played.
        waited: for how long the clock will have waited before its next pass: for the doors, or
            because it rests.
        rests: whether no live match was unfinished. A pass with a probe does not find out.
    """

    played: int
    waited: timedelta
    rests: bool = False


def do_pass(now: datetime, doors: Doors, waited: timedelta = timedelta(0)) -> Pass:
    """Make one pass of the clock. If no turn is open and no probe is due, it is one statement.

    The first pass without doors forgets those of an earlier setting.

    Args:
        now: the time.
        doors: the doors to probe.
        waited: of the pass before. In that time the clock ran.
    """
    if doors.forgets:
        outages.forget_doors()
        doors.forgets = False
    if not doors.are_due() and (idle := outages.keep_idle(now, waited)):
        rest = timedelta(seconds=REST_SECONDS if idle.may_rest else 0)
        return Pass(0, rest, rests=idle.may_rest)
    began = time.monotonic()
    probes = doors.probe()
    seconds = min(time.monotonic() - began, TIMEOUT_SECONDS)
    outages.keep(now, probes, waited)
    played = expire_overdue(timezone.now(), max_seconds=MAX_EXPIRING_SECONDS)
    return Pass(played, timedelta(seconds=seconds))
