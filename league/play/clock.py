"""The clock: a thread that gives lost time back and plays for seats whose deadline has passed.

It depends on the database alone: neither beat nor the broker can stop it. Each worker of the queue
``clock`` has one. Several clocks do no harm, as all they do is safe to do twice.
"""

import math
import threading
import time
from contextlib import suppress
from datetime import datetime

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from redis.exceptions import RedisError

from league import heartbeats
from league.play import outages
from league.play.doors import Doors
from league.play.overdue_turns import expire_overdue

log = structlog.get_logger(__name__)

EVERY_SECONDS = 0.4
"""Time between two rounds of the clock, well below `league.play.outages.MAX_GAP`."""
ALIVE_SECONDS = 1.0
"""Time between two signs of life."""
MAX_EXPIRING_SECONDS = 0.4
"""Time that a round plays in overdue turns; the next round continues."""


class ClockThread(threading.Thread):
    """Runs the clock until `stop` is called."""

    def __init__(self, doors: Doors | None = None) -> None:
        super().__init__(name="clock", daemon=True)
        self._doors = Doors(settings.PROBE_URL) if doors is None else doors
        self._stopping = threading.Event()
        self._fault = ""
        self._noted_at = -math.inf

    def stop(self) -> None:
        """End the thread after its round, and wait for that."""
        self._stopping.set()
        self.join()

    def run(self) -> None:
        """Do a round every `EVERY_SECONDS`. A round that fails does not end the clock."""
        try:
            while not self._stopping.wait(EVERY_SECONDS):
                self._try_round()
        finally:
            self._doors.close()
            connection.close()

    def _try_round(self) -> None:
        """Do a round; log the first of several failures, and the end of them."""
        try:
            do_round(timezone.now(), self._doors)
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
        """Store a sign of life for `/readyz` each second, if the cache can be reached."""
        if time.monotonic() - self._noted_at >= ALIVE_SECONDS:
            self._noted_at = time.monotonic()
            with suppress(RedisError):
                heartbeats.note_part("deadlines")


def do_round(now: datetime, doors: Doors) -> int:
    """Do one round of the clock; return the number of turns in which the referee played.

    If no turn is open, it is one statement.
    """
    if outages.keep_idle(now):
        return 0
    outages.keep(now, doors.probe())
    return expire_overdue(timezone.now(), max_seconds=MAX_EXPIRING_SECONDS)
