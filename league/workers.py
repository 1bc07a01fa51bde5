"""Signal handlers of Celery's workers: heartbeats, the clock, proof of the sandbox, ids in logs.

`league.apps` imports this module, which connects the handlers.
"""

import os
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import structlog
from celery import Task, current_app
from celery.bootsteps import StartStopStep
from celery.signals import heartbeat_sent, worker_ready, worker_shutdown
from django_structlog.celery.signals import bind_extra_task_metadata

from league import heartbeats
from league.bots import jails
from league.play.clock import ClockThread

log = structlog.get_logger(__name__)

CLOCK_QUEUE = "clock"
WITHOUT_BOTS = {"ratings"}
"""Queues whose tasks run no uploaded bots."""
_clocks: list[ClockThread] = []


class Priority(StartStopStep):  # type: ignore[misc] # Celery has no types
    """The option ``--nice`` of a worker: it lowers the worker's priority, so that calls don't wait.

    Linux first shares CPU time between sessions (sched_autogroup), then inside each one by
    ``nice``. So a worker that leads a session lowers the session too.
    """

    def __init__(self, parent: object, nice: int = 0, **options: object) -> None:
        """Lower the priority of this process, which the worker's processes inherit."""
        super().__init__(parent, **options)
        if not nice:
            return
        os.nice(nice)
        if os.getsid(0) == os.getpid():
            with suppress(OSError):  # another kernel, or a cgroup that decides instead
                Path("/proc/self/autogroup").write_text(str(nice))


@worker_ready.connect
def note_start(**_: object) -> None:
    """Store that a worker started: the next tick queues the tasks of a killed worker again."""
    try:
        heartbeats.note_worker_started()
    except Exception as error:
        log.warning(
            "a worker's start could not be stored: lost tasks wait until their leases end",
            error=str(error),
        )


@worker_ready.connect
def prove_sandbox(**_: object) -> None:
    """Prove the sandbox in the background when a worker starts, so that `/readyz` can show it.

    A worker that runs no uploaded bots needs none.
    """
    if WITHOUT_BOTS.issuperset(current_app.amqp.queues.consume_from):
        return
    Thread(target=jails.prove, name="sandbox", daemon=True).start()


@worker_ready.connect
def start_clock(**_: object) -> None:
    """Run the clock of turns in each worker that serves the queue `CLOCK_QUEUE`."""
    if CLOCK_QUEUE in current_app.amqp.queues.consume_from:
        clock = ClockThread()
        _clocks.append(clock)
        clock.start()


@worker_shutdown.connect
def stop_clock(**_: object) -> None:
    """End the clock of this worker."""
    while _clocks:
        _clocks.pop().stop()


@heartbeat_sent.connect
def note_heartbeat(**_: object) -> None:
    """Store that a worker is alive, and the queues that it serves, for `/readyz`."""
    heartbeats.touch_file()
    try:
        heartbeats.note_worker(current_app.amqp.queues.consume_from)
    except Exception as error:
        log.warning("a worker's heartbeat could not be stored", error=str(error))


def bind_task_name(task: Task, **_: Any) -> None:
    """Bind the name of a task beside its id, which django-structlog binds."""
    structlog.contextvars.bind_contextvars(task=task.name.removeprefix("league.tasks."))


bind_extra_task_metadata.connect(bind_task_name)
