"""The Celery application."""

import logging
import os
from contextlib import suppress
from threading import Thread

import redis
from celery import Celery
from celery.signals import heartbeat_sent, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")

app = Celery("league")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["league"])

log = logging.getLogger(__name__)


@worker_ready.connect
def say_so(**_: object) -> None:
    """Have the next tick queue again what a killed worker may have had in hand."""
    from league import health

    try:
        health.note_worker_came()
    except Exception as error:
        log.warning("what a worker left undone is only found in a while: %s", error)


@worker_ready.connect
def prove_sandbox(**_: object) -> None:
    """Have the sandbox proven when a worker starts, so that ``/readyz`` knows of it."""
    from league.hosting import jails

    Thread(target=jails.prove, name="sandbox", daemon=True).start()


@heartbeat_sent.connect
def note_worker(**_: object) -> None:
    """Leave word that a worker lives and which queues it serves, for ``/readyz``."""
    from league import health

    try:
        health.note_worker(app.amqp.queues.consume_from)
    except Exception as error:
        log.warning("the worker could not be reported: %s", error)


def queue(task: str, *ids: int) -> None:
    """Queue a task of `league.tasks`; if the broker is away, the tick finds what is to be done."""
    try:
        app.send_task(f"league.tasks.{task}", ids, retry=False)
    except Exception as error:
        log.warning("%s%r could not be queued: %s", task, ids, error)


def queue_once(task: str) -> None:
    """Queue a task that takes nothing, unless it waits in the queue already; see `taken_up`."""
    from django.core.cache import cache

    fresh = True
    with suppress(redis.RedisError):
        # Should the queue lose it, the next one is sent when this is over.
        fresh = cache.add(f"queued-{task}", 1, timeout=5)
    if fresh:
        queue(task)


def taken_up(task: str) -> None:
    """Note that a task sent by `queue_once` begins: what happens from now on needs another."""
    from django.core.cache import cache

    with suppress(redis.RedisError):
        cache.delete(f"queued-{task}")
