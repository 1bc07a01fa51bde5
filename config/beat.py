"""The scheduler of Celery's beat, which outlasts a broker that can't be reached.

Beat is a separate program, or a thread of a worker: the option ``--with-beat`` of the worker. Any
number may run: the one that holds a lease in the broker queues the tasks, and the others stand by.
"""

import math
import threading
import time
import uuid
from contextlib import suppress
from datetime import timedelta
from typing import Any

import structlog
from celery.beat import PersistentScheduler, Service
from celery.bootsteps import StartStopStep
from redis.exceptions import RedisError

from config.schedule import REST_SECONDS

log = structlog.get_logger(__name__)

_RETRY_SECONDS = 0.5
_SIGN_SECONDS = 2.0
REST_PAUSE_SECONDS = 3.0
"""The time between two searches of the schedule at rest. Each search takes milliseconds."""
_MAX_AHEAD = timedelta(seconds=5)
"""If a task was queued at a time this far in the future, the clock was set back."""
_LOOK_SECONDS = 1.0
"""The time between two looks whether the rest is over."""
LEASE_KEY = "league:beat"
LEASE_MILLISECONDS = 3000
"""If the active beat is killed, another one takes over after this time at most."""
_RENEW_SECONDS = 1.0
_TAKE_LEASE = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return false end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return holder and 'kept' or 'new'
"""
"""Takes or renews the lease, unless another beat holds it; answers null then."""


class Scheduler(PersistentScheduler):
    """Queues the tasks of the schedule; while it can't reach the broker, it tries again.

    Celery's own takes a task from its heap before it connects. If that fails, the task is gone, and
    the heap is empty at last.
    """

    _noted_at = -math.inf
    _led_at = -math.inf
    _searched_at = -math.inf
    _is_closed = False
    _name = ""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Queue a task that is due; return the seconds until the next one."""
        from league import heartbeats  # it needs Django set up

        try:
            if not self._leads():
                return _RETRY_SECONDS
            self.producer  # noqa: B018 - it connects, before a task leaves the heap
            seconds = self._search(*args, **kwargs)
        except Exception as error:
            if self._is_closed:
                return _RETRY_SECONDS
            log.warning("a scheduled task could not be queued", error=str(error))
            heartbeats.touch_file()  # a restart of the container would not help
            self._heap = None  # it is made anew from the schedule, which has every task
            self._disconnect()
            return _RETRY_SECONDS
        self._note_alive()
        return seconds

    def _search(self, *args: Any, **kwargs: Any) -> float:
        """Queue a task that is due; return the seconds until the next search."""
        from league import activity  # it needs Django set up

        now = time.monotonic()
        if now - self._searched_at < REST_PAUSE_SECONDS and not activity.is_active():
            return _LOOK_SECONDS
        self._follow_clock()
        seconds: float = super().tick(*args, **kwargs)
        if seconds:  # else another task is due
            self._searched_at = now
        return seconds

    def _follow_clock(self) -> None:
        """If the clock was set back, start the pauses of all tasks now, not at a future time."""
        from league import activity  # it needs Django set up

        entries = self.schedule.values()
        if not any(entry.last_run_at > entry.default_now() + _MAX_AHEAD for entry in entries):
            return
        log.warning("the clock was set back; the pauses of all scheduled tasks begin now")
        for entry in entries:
            entry.last_run_at = min(entry.last_run_at, entry.default_now())
        self._heap = None  # it has the old times
        activity.look_again(*REST_SECONDS)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Queue a task, unless the league is at rest; if that fails, it is due again."""
        from league import activity  # it needs Django set up

        rest = REST_SECONDS.get(entry.name)
        if rest is not None and not activity.may_look(entry.name, rest):
            return
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception:
            self.schedule[entry.name] = entry
            raise

    def _ensure_connected(self) -> Any:
        """Connect without Celery's own retries, whose pauses grow to 30 s."""
        return self.connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)

    def close(self) -> None:
        """Store the schedule and free the lease; a signal may do so in the middle of a tick."""
        self._is_closed = True
        super().close()
        if self._led_at > -math.inf:
            from league.queueing import broker

            with suppress(RedisError):
                if broker().get(LEASE_KEY) == self._name.encode():
                    broker().delete(LEASE_KEY)

    def _leads(self) -> bool:
        """Take or renew the lease, once a second; return whether this beat holds it.

        Raises:
            RedisError: the broker can't be reached.
        """
        if time.monotonic() - self._led_at < _RENEW_SECONDS:
            return True
        from league import heartbeats, processes  # they need Django set up
        from league.queueing import broker

        self._name = self._name or f"{processes.named('beat')}/{uuid.uuid4()}"
        taken = broker().eval(_TAKE_LEASE, 1, LEASE_KEY, self._name, LEASE_MILLISECONDS)
        if taken == b"new":
            log.info("this beat is the active one")
        elif taken is None:
            self._led_at = -math.inf
            heartbeats.touch_file()
            processes.note(processes.named("beat"))
            return False
        self._led_at = time.monotonic()
        return True

    def _note_alive(self) -> None:
        """Store a heartbeat for `/readyz` every two seconds."""
        if time.monotonic() - self._noted_at < _SIGN_SECONDS:
            return
        from league import heartbeats, processes  # they need Django set up

        heartbeats.touch_file()
        with suppress(RedisError):  # the next tick finds out
            heartbeats.note_part("beat")
            processes.note(processes.named("beat"))
            self._noted_at = time.monotonic()

    def _disconnect(self) -> None:
        """Forget the connection, so that the next tick makes a new one."""
        self.__dict__.pop("producer", None)
        if connection := self.__dict__.pop("connection", None):
            connection.collect()


class BeatThread(threading.Thread):
    """Runs beat until `stop` is called. A beat that fails is made anew.

    Args:
        app: Celery's application.
        schedule: the file in which beat stores when it last queued each task.
    """

    def __init__(self, app: Any, schedule: str) -> None:
        super().__init__(name="beat", daemon=True)
        self._app, self._schedule = app, schedule
        self._stopping = threading.Event()
        self._service = self._new_service()

    def run(self) -> None:
        """Run beat; after a failure, wait and run it again."""
        while not self._stopping.is_set():
            try:
                self._service.start()
            except Exception:
                log.exception("beat failed; it starts again")
            self._stopping.wait(_RETRY_SECONDS)
            self._service = self._new_service()

    def stop(self) -> None:
        """End beat after the task that it is queueing, and wait for that."""
        self._stopping.set()
        self._service.stop()
        self.join()

    def _new_service(self) -> Any:
        return Service(self._app, scheduler_cls=Scheduler, schedule_filename=self._schedule)


class WithBeat(StartStopStep):
    """The option ``--with-beat FILE`` of a worker: it runs beat in a thread.

    That takes less memory than a process.
    """

    def __init__(self, parent: object, with_beat: str = "", **options: object) -> None:
        super().__init__(parent, **options)
        self.enabled = bool(with_beat)
        self._schedule = with_beat

    def create(self, parent: Any) -> BeatThread:
        """Return the thread, which the worker starts and stops."""
        return BeatThread(parent.app, self._schedule)
