"""Signal handlers of Celery's workers: heartbeats, the clock, proof of the sandbox, ids in logs.

`league.apps` imports this module, which connects the handlers.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import structlog
from celery import Task, current_app
from celery.bootsteps import StartStopStep
from celery.signals import (
    before_task_publish,
    celeryd_init,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
)
from django_structlog.celery.signals import bind_extra_task_metadata

from league import (
    activity,
    durations,
    error_reports,
    health,
    heartbeats,
    processes,
    queueing,
    tracing,
)
from league.bots import jails, sandbox_reports
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


@celeryd_init.connect
def name_reports(sender: str, **_: object) -> None:
    """Name the reports of this worker's sandbox, before the worker forks its processes."""
    sandbox_reports.report_as(sender)


@worker_ready.connect
def note_start(**_: object) -> None:
    """Store that a worker started: the next tick queues the tasks of a killed worker again.

    It ends a rest of the league, so this tick comes within a second.
    """
    try:
        heartbeats.note_worker_started()
        activity.note()
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


@worker_shutdown.connect
def forget_worker(sender: Any = None, **_: object) -> None:
    """Take a worker that ends off the operator's page, with the report of its sandbox."""
    processes.forget(str(sender))
    sandbox_reports.forget()


@before_task_publish.connect
def note_sending(headers: dict[str, Any], **_: object) -> None:
    """Note in the message of a task when it was sent."""
    headers[queueing.SENT_AT] = time.time()
    if parent := tracing.current_parent():
        headers[tracing.TRACEPARENT] = parent


@task_prerun.connect
def note_wait(task: Task, **_: object) -> None:
    """Count the time that a task has waited in its queue."""
    sent = getattr(task.request, queueing.SENT_AT, None)
    queue = (task.request.delivery_info or {}).get("routing_key")
    if sent is not None and queue in health.QUEUES:
        durations.note("queue_wait", time.time() - sent, queue)


@task_prerun.connect
def begin_span(task: Task, **_: object) -> None:
    """Begin the span of a task, in the trace of the request that queued it."""
    parent = getattr(task.request, tracing.TRACEPARENT, None) or ""
    name = task.name.removeprefix("league.tasks.")
    task.request.span = tracing.begin(name, tracing.CONSUMER, parent)


@task_postrun.connect
def end_span(task: Task, state: str = "", **_: object) -> None:
    """End the span of a task."""
    span = getattr(task.request, "span", None)
    if span is not None:
        span.failed = state == "FAILURE"
        tracing.end(span)


@worker_process_shutdown.connect
def send_rest(**_: object) -> None:
    """Send what a process of a worker has counted and collected, before the process ends."""
    durations.send()
    tracing.flush()
    error_reports.flush()


@heartbeat_sent.connect
def note_heartbeat(sender: Any = None, **_: object) -> None:
    """Store that a worker is alive, and the queues that it serves, for `/readyz`."""
    heartbeats.touch_file()
    queues = list(current_app.amqp.queues.consume_from)
    try:
        heartbeats.note_worker(queues)
        if sender is not None:
            processes.note(sender.eventer.hostname, queues)
    except Exception as error:
        log.warning("a worker's heartbeat could not be stored", error=str(error))


def bind_task_name(task: Task, **_: Any) -> None:
    """Bind the name of a task beside its id, which django-structlog binds."""
    structlog.contextvars.bind_contextvars(task=task.name.removeprefix("league.tasks."))


bind_extra_task_metadata.connect(bind_task_name)
