"""Queueing: sending tasks of `league.tasks` to Celery's workers, and finding those that wait.

If a task can't be queued, this is only logged: the database keeps what is due, and the next tick
finds it there.
"""

import json
from base64 import b64decode
from contextlib import suppress
from typing import Any

import redis
import structlog
from celery import current_app
from django.conf import settings
from django.core.cache import cache

log = structlog.get_logger(__name__)

SENT_AT = "sent_at"
"""Header of each task: when it was sent, in seconds since 1970."""
_QUEUED_SECONDS = 60
"""If the queue loses a task of `queue_once`, the next one is sent after this time."""
_BROKER_SECONDS = 1
_TAKEN_KEY = "match-taken-from"
_TAKEN_SECONDS = 60
_clients: dict[str, redis.Redis] = {}
"""This process's client by the broker's address."""


def queue(task: str, *ids: int | str) -> bool:
    """Queue a task of `league.tasks`; return whether that worked.

    Args:
        task: the function's name.
        ids: its arguments.
    """
    try:
        current_app.send_task(f"league.tasks.{task}", ids, retry=False)
    except Exception as error:
        log.warning("a task could not be queued", queued_task=task, ids=ids, error=str(error))
        return False
    return True


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


def broker() -> redis.Redis:
    """Return this process's client of the broker; its connections are kept.

    All threads get the same one, even if several ask for it for the first time at the same moment.
    A client that another one replaces would close its connections while a pipeline uses them.
    """
    url = settings.REDIS_URL
    return _clients.get(url) or _clients.setdefault(
        url, redis.Redis.from_url(url, socket_timeout=_BROKER_SECONDS)
    )


def tasks_queued(queue: str) -> int:
    """Return the number of tasks that wait in a queue.

    Raises:
        RedisError: the broker can't be reached.
    """
    return int(broker().llen(queue))


def oldest_sent(queue: str) -> float | None:
    """Return when the task was sent that waits longest in a queue, None if no task waits.

    Raises:
        RedisError: the broker can't be reached.
    """
    text: Any = broker().lindex(queue, -1)  # workers take tasks from this end
    sent: float | None = json.loads(text)["headers"].get(SENT_AT) if text else None
    return sent


def note_taken(queue: str) -> None:
    """Note from which queue a worker has taken the last match."""
    with suppress(redis.RedisError):
        cache.set(_TAKEN_KEY, queue, timeout=_TAKEN_SECONDS)


def last_taken() -> str | None:
    """Return the queue of the last match that a worker took; None if that is long ago."""
    try:
        queue: str | None = cache.get(_TAKEN_KEY)
    except redis.RedisError:
        return None
    return queue


def waiting_ids(task: str, *queues: str) -> set[int]:
    """Return the ids for which a task of `league.tasks` waits: in its queue, or in some queues.

    A task that a worker has taken out no longer waits. If the broker can't be reached, no task can
    be queued either, and the answer is empty.
    """
    name = f"league.tasks.{task}"
    route = settings.CELERY_TASK_ROUTES.get(name, {})
    queues = queues or (route.get("queue", settings.CELERY_TASK_DEFAULT_QUEUE),)
    try:
        messages = [text for queue in queues for text in broker().lrange(queue, 0, -1)]
    except redis.RedisError as error:
        log.warning("a queue could not be read", queues=queues, error=str(error))
        return set()
    found = set()
    for text in messages:
        message = json.loads(text)
        if message["headers"]["task"] == name:
            arguments, *_ = json.loads(b64decode(message["body"]))
            found.update(arguments)
    return found


def _key(task: str) -> str:
    return f"queued-{task}"
