"""Telling those who wait that something happened: after the commit, and as a hint only.

Whoever misses a hint finds what is open in the database, so a failure here is logged and no more.
"""

import os
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
"""The channel on which bots are told: ids, separated by spaces, of bots with a new turn."""
MATCHES = f"{settings.REDIS_CHANNELS}:matches"
"""The channel on which spectators are told: ids of matches that have gone on or ended."""

_untold: SimpleQueue[tuple[int, str]] = SimpleQueue()


def announce(*, match_id: int, bot_ids: Iterable[int], house: bool) -> None:
    """After the commit, tell of a match that went on.

    Args:
        match_id: of the match.
        bot_ids: who has a new turn.
        house: whether a worker is to move the seats that are played here.
    """
    bots = " ".join(str(bot) for bot in sorted(bot_ids))

    def tell() -> None:
        _publish(match_id, bots)
        if house:
            queue("play_house_turns", match_id)

    transaction.on_commit(tell)


def _publish(match_id: int, bots: str) -> None:
    """Have it told by a thread of this process: whoever made the move need not wait for that."""
    _untold.put((match_id, bots))
    _start_teller(os.getpid())


@cache
def _start_teller(pid: int) -> None:  # by process: threads don't survive a fork
    Thread(target=_tell_all, name="wakeups", daemon=True).start()


def _tell_all() -> None:
    while True:
        news = [_untold.get()]
        while not _untold.empty():  # what was put while we told the last, all at once
            news.append(_untold.get())
        bots = {bot for _, told in news for bot in told.split()}
        try:
            with _redis().pipeline(transaction=False) as pipe:
                if bots:
                    pipe.publish(TURNS, " ".join(bots))
                pipe.publish(MATCHES, " ".join({str(match) for match, _ in news}))
                pipe.execute()
        except redis.RedisError as error:
            log.warning("wake-ups could not be sent", matches=len(news), error=str(error))


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)
