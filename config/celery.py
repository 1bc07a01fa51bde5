"""The Celery application. Its tasks are in `league.tasks`, its signal handlers in `league.workers`.

Workers bind each task's id to the lines that the task logs, and the id of the request that queued
the task (django-structlog).
"""

import gc
import multiprocessing
import os
import tempfile

from celery import Celery
from celery.signals import worker_before_create_process, worker_init, worker_process_init
from click import IntRange, Option
from django_structlog.celery.steps import DjangoStructLogInitStep

from config.lifetime import end_with_parent
from config.postgres.kept import KEPT
from config.starting import read_settings
from league.log_lines import say

read_settings()

app = Celery("league", amqp="config.broker:PromptAMQP")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["league"])
app.steps["worker"].add(DjangoStructLogInitStep)
app.steps["worker"].add("league.workers:Priority")
app.steps["worker"].add("config.beat:WithBeat")
app.user_options["worker"].add(
    Option(
        ["--nice"],
        type=IntRange(0, 19),
        default=0,
        help="The niceness of its processes: 19 is the lowest priority.",
    )
)
app.user_options["worker"].add(
    Option(
        ["--with-beat"],
        default="",
        metavar="FILE",
        help="Run beat, the scheduler, in this worker too; FILE stores its state.",
    )
)

_workers: list[int] = []
"""The pid of the worker, in its processes too: they are forked from it."""


@worker_init.connect
def note_worker(**_: object) -> None:
    """Note the pid of the worker before it forks processes; let it create no directory.

    The processes of a worker share a file without a name. By default it is made in a new directory,
    which stays when the worker is killed.
    """
    _workers[:] = [os.getpid()]
    settings = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    settings["tempdir"] = tempfile.gettempdir()


@worker_init.connect
def say_in_the_form_of_the_log(**_: object) -> None:
    """Write the worker's own lines, such as its last one, in the form of the log."""
    from celery.apps import worker  # only a worker has loaded it

    worker.safe_say = say


@worker_init.connect
def keep_connections(**_: object) -> None:
    """Keep database connections between tasks, which Celery would close."""
    KEPT.begin()


@worker_before_create_process.connect
def freeze_memory(**_: object) -> None:
    """Exempt all objects from garbage collection that the processes of a worker inherit.

    Otherwise a process visits them in each full collection, and copies their memory by that.
    """
    gc.collect()
    gc.freeze()


@worker_process_init.connect
def bind_to_worker(**_: object) -> None:
    """End a process of a worker with the worker."""
    end_with_parent(_workers[0])
