"""Wake-ups: messages after a commit that a bot has a new turn or that a match advanced.

A client that misses a wake-up finds its open turns in the database, so a failure is only logged.
"""

import os
import time
from collections.abc import Iterable
from functools import cache
from queue import SimpleQueue
from threading import Thread

import redis
import structlog
from django.conf import settings
from django.db import transaction

from league.queueing import queue

log = structlog.get_logger(__name__)

TURNS = f"{settings.REDIS_CHANNELS}:turns"
"""Channel of the ids, separated by spaces, of bots with a new turn."""
MATCHES = f"{settings.REDIS_CHANNELS}:matches"
"""Channel of the ids, separated by spaces, of matches that advanced or ended."""

_PAUSE_SECONDS = 0.002
"""Time after a message in which wake-ups are collected for the next one. After an idle moment, the
first wake-up is sent at once. Each message costs its sender and all gateways more than a move."""

_pending: SimpleQueue[tuple[int, frozenset[int]]] = SimpleQueue()


def announce(*, match_id: int, bot_ids: Iterable[int], wakes_worker: bool) -> None:
    """After the commit, send the wake-ups of a match that advanced or ended.

    Args:
        match_id: id of the match.
        bot_ids: ids of the bots with a new turn.
        wakes_worker: whether a worker is to move seats of house and hosted bots.
    """
    bots = frozenset(bot_ids)

    def notify() -> None:
        publish(match_id, bots)
        if wakes_worker:
            wake_worker(match_id)

    transaction.on_commit(notify)


def publish(match_id: int, bots: frozenset[int]) -> None:
    """Send the wake-ups of a match in a thread of this process, so that no request waits for them.

    Args:
        match_id: id of the match.
        bots: ids of the bots with a new turn.
    """
    _pending.put((match_id, bots))
    _start_publisher(os.getpid())


def wake_worker(match_id: int) -> None:
    """Let a worker move seats of house and hosted bots."""
    queue("play_house_turns", match_id)


@cache
def _start_publisher(pid: int) -> None:  # by process: threads don't survive a fork
    Thread(target=_publish_pending, name="wakeups", daemon=True).start()


def _publish_pending() -> None:
    while True:
        found = [_pending.get()]
        while not _pending.empty():  # one message for all that came meanwhile
            found.append(_pending.get())
        bots = frozenset[int]().union(*(woken for _, woken in found))
        try:
            with _redis().pipeline(transaction=False) as pipe:
                if bots:
                    pipe.publish(TURNS, " ".join(map(str, bots)))
                pipe.publish(MATCHES, " ".join({str(match) for match, _ in found}))
                pipe.execute()
        except redis.RedisError as error:
            log.warning("wake-ups could not be sent", matches=len(found), error=str(error))
        time.sleep(_PAUSE_SECONDS)


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)
