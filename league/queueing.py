"""Queueing: sending tasks of `league.tasks` to Celery's workers.

A task that can't be queued is only logged: what is due stands in the database, and the next tick
finds it there.
"""

import logging
from contextlib import suppress

import redis
from celery import current_app
from django.core.cache import cache

log = logging.getLogger(__name__)

_QUEUED_SECONDS = 5
"""If the queue loses a task of `queue_once`, the next one is sent after this time."""


def queue(task: str, *ids: int) -> None:
    """Queue a task of `league.tasks`.

    Args:
        task: the function's name.
        ids: its arguments.
    """
    try:
        current_app.send_task(f"league.tasks.{task}", ids, retry=False)
    except Exception as error:
        log.warning("%s%r could not be queued: %s", task, ids, error)


def queue_once(task: str) -> None:
    """Queue a task without arguments, unless it waits in the queue already; see `note_begun`."""
    is_first = True
    with suppress(redis.RedisError):
        is_first = cache.add(_key(task), 1, timeout=_QUEUED_SECONDS)
    if is_first:
        queue(task)


def note_begun(task: str) -> None:
    """Note that a task sent by `queue_once` begins: what happens from now on needs another."""
    with suppress(redis.RedisError):
        cache.delete(_key(task))


def _key(task: str) -> str:
    return f"queued-{task}"
