"""Telling those who wait that something happened: after the commit, and as a hint only.

Whoever misses a hint finds what is open in the database, so a failure here is logged and no more.
"""

import logging
from collections.abc import Iterable
from functools import cache

import redis
from django.conf import settings
from django.db import transaction

log = logging.getLogger(__name__)

TURNS = f"{settings.REDIS_CHANNELS}:turns"
"""The channel on which bots are told: ids, separated by spaces, of bots with a new turn."""
MATCHES = f"{settings.REDIS_CHANNELS}:matches"
"""The channel on which spectators are told: the id of a match that has gone on or ended."""


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
            queue_house_turns(match_id)

    transaction.on_commit(tell)


def queue_house_turns(match_id: int) -> None:
    """Queue the task; if that fails, the tick does it when the match is due."""
    from league.celery import app

    try:
        app.send_task("league.tasks.play_house_turns", [match_id], retry=False)
    except Exception as error:
        log.warning("match %s: its task could not be queued: %s", match_id, error)


def _publish(match_id: int, bots: str) -> None:
    try:
        with _redis().pipeline(transaction=False) as pipe:
            if bots:
                pipe.publish(TURNS, bots)
            pipe.publish(MATCHES, match_id)
            pipe.execute()
    except redis.RedisError as error:
        log.warning("match %s: nobody could be told of its turns: %s", match_id, error)


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)
