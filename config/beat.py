"""The scheduler of Celery's beat, which outlasts a broker that can't be reached."""

import math
import time
from contextlib import suppress
from typing import Any

import structlog
from celery.beat import PersistentScheduler
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

_RETRY_SECONDS = 0.5
_SIGN_SECONDS = 1.0


class Scheduler(PersistentScheduler):
    """Queues the tasks of the schedule; while it can't reach the broker, it tries again.

    Celery's own takes a task from its heap before it connects. If that fails, the task is gone, and
    the heap is empty at last.
    """

    _noted_at = -math.inf
    _is_closed = False

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Queue a task that is due; return the seconds until the next one."""
        try:
            self.producer  # noqa: B018 - it connects, before a task leaves the heap
            seconds: float = super().tick(*args, **kwargs)
        except Exception as error:
            if self._is_closed:
                return _RETRY_SECONDS
            log.warning("a scheduled task could not be queued", error=str(error))
            self._heap = None  # it is made anew from the schedule, which has every task
            self._disconnect()
            return _RETRY_SECONDS
        self._note_alive()
        return seconds

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Queue a task; if that fails, it is due again."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception:
            self.schedule[entry.name] = entry
            raise

    def _ensure_connected(self) -> Any:
        """Connect without Celery's own retries, whose pauses grow to 30 s."""
        return self.connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)

    def close(self) -> None:
        """Store the schedule; a signal may do so in the middle of a tick."""
        self._is_closed = True
        super().close()

    def _note_alive(self) -> None:
        """Store a sign of life for `/readyz` each second."""
        if time.monotonic() - self._noted_at < _SIGN_SECONDS:
            return
        from league import heartbeats  # it needs Django set up

        heartbeats.touch_file()
        with suppress(RedisError):  # the next tick finds out
            heartbeats.note_part("beat")
            self._noted_at = time.monotonic()

    def _disconnect(self) -> None:
        """Forget the connection, so that the next tick makes a new one."""
        self.__dict__.pop("producer", None)
        if connection := self.__dict__.pop("connection", None):
            connection.collect()
