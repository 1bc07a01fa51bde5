"""Wake-ups: messages after a commit that a bot has a new turn or that a match advanced.

A client that misses a wake-up finds its open turns in the database, so a failure is only logged.
"""

import os
import secrets
import time
from collections.abc import Iterable, Sequence
from queue import SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple

import redis
import structlog
from django.conf import settings
from django.db import transaction

from league.queueing import queue

log = structlog.get_logger(__name__)

TURNS = f"{settings.REDIS_CHANNELS}:turns"
"""Channel of the ids, separated by spaces, of bots with a new turn.

If the sender has woken the waiting requests of its own process, its `sender` comes first.
"""
MATCHES = f"{settings.REDIS_CHANNELS}:matches"
"""Channel of the ids, separated by spaces, of matches that advanced or ended."""


class WakeUp(NamedTuple):
    """A match that advanced or ended.

    Attributes:
        match_id: its id.
        bots: the ids of the bots with a new turn in it.
        woken_here: whether the waiting requests of this process have been woken already.
    """

    match_id: int
    bots: frozenset[int]
    woken_here: bool = False


_PAUSE_SECONDS = 0.002
"""Time after a message in which wake-ups are collected for the next one. After an idle moment, the
first wake-up is sent at once. Each message costs its sender and all gateways more than a move."""


class Publisher:
    """Sends wake-ups in a thread of this process, so that no request waits for them."""

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Begin without a thread, in a forked process too: threads don't survive a fork."""
        self._lock = Lock()
        self._waiting: SimpleQueue[WakeUp] = SimpleQueue()
        self._thread: Thread | None = None
        self.sender = f"from-{secrets.token_hex(8)}"

    def put(self, wake_up: WakeUp) -> None:
        """Leave a wake-up to the thread; the first one starts it."""
        self._waiting.put(wake_up)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = Thread(target=self._publish, name="wakeups", daemon=True)
                    self._thread.start()

    def _publish(self) -> None:
        waiting = self._waiting
        # Held to the end: a client that nobody holds closes its connections, even while one is
        # being opened (decision 0100).
        client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5
        )
        while True:
            found = [waiting.get()]
            while not waiting.empty():  # one message for all that came meanwhile
                found.append(waiting.get())
            try:
                self._send(client, found)
            except redis.RedisError as error:
                log.warning("wake-ups could not be sent", matches=len(found), error=str(error))
            except Exception:  # the thread must go on: nothing else wakes these bots
                log.exception("wake-ups could not be sent", matches=len(found))
            time.sleep(_PAUSE_SECONDS)

    def _send(self, client: redis.Redis, found: Sequence[WakeUp]) -> None:
        with client.pipeline(transaction=False) as pipe:
            for sender in ((), (self.sender,)):
                woken = [each.bots for each in found if each.woken_here == bool(sender)]
                if bots := frozenset[int]().union(*woken):
                    pipe.publish(TURNS, " ".join([*sender, *map(str, bots)]))
            pipe.publish(MATCHES, " ".join({str(each.match_id) for each in found}))
            pipe.execute()


_publisher = Publisher()


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


def publish(match_id: int, bots: frozenset[int], *, woken_here: bool = False) -> None:
    """Send the wake-ups of a match in a thread of this process, so that no request waits for them.

    Args:
        match_id: id of the match.
        bots: ids of the bots with a new turn.
        woken_here: whether the waiting requests of this process have been woken already.
    """
    _publisher.put(WakeUp(match_id, bots, woken_here))


def is_from_here(message: bytes) -> bool:
    """Return whether a message is about requests that this process has woken already."""
    return message.startswith(_publisher.sender.encode())


def wake_worker(match_id: int) -> None:
    """Let a worker move seats of house and hosted bots."""
    queue("play_house_turns", match_id)
