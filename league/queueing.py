"""Queueing: sending tasks of `league.tasks` to Celery's workers.

If a task can't be queued, this is only logged: the database keeps what is due, and the next tick
finds it there.
"""

from contextlib import suppress

import redis
import structlog
from celery import current_app
from django.core.cache import cache

log = structlog.get_logger(__name__)

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
        log.warning("a task could not be queued", queued_task=task, ids=ids, error=str(error))


def queue_once(task: str) -> None:
    """Queue a task without arguments, unless it waits in the queue already; see `note_begun`."""
    is_first = True
    with suppress(redis.RedisError):
        is_first = cache.add(_key(task), 1, timeout=_QUEUED_SECONDS)
    if is_first:
        queue(task)


def note_begun(task: str) -> None:
    """Note that a task of `queue_once` has begun: later events need another one."""
    with suppress(redis.RedisError):
        cache.delete(_key(task))


def _key(task: str) -> str:
    return f"queued-{task}"
