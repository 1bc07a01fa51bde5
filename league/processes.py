"""The processes of the league, each with its last heartbeat, for the operator's page."""

import json
import os
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from league.queueing import broker

FORGOTTEN_AFTER_SECONDS = 900
"""A process without a heartbeat for so long is no longer listed."""
_KEY = "league:processes"


class Process(NamedTuple):
    """A process and its last heartbeat.

    Attributes:
        name: its part and host, such as ``play@worker-2``.
        queues: the queues that it serves, if it is a worker.
        silent_seconds: time since its last heartbeat.
    """

    name: str
    queues: list[str]
    silent_seconds: float

    @property
    def part(self) -> str:
        """Its part, such as ``play``."""
        return self.name.partition("@")[0]


def named(part: str) -> str:
    """Return the name of this process by its part, its host and its id."""
    return f"{part}@{socket.gethostname()}/{os.getpid()}"


def note(name: str, queues: Iterable[str] = ()) -> None:
    """Store that a process is alive.

    Raises:
        RedisError: the broker can't be reached.
    """
    broker().hset(_KEY, name, json.dumps([time.time(), sorted(queues)]))


def forget(name: str) -> None:
    """Take a process that ends off the list."""
    with suppress(RedisError):
        broker().hdel(_KEY, name)


def alive() -> list[Process]:
    """Return the processes with a heartbeat in the last `FORGOTTEN_AFTER_SECONDS`, by name.

    Raises:
        RedisError: the broker can't be reached.
    """
    stored: Any = broker().hgetall(_KEY)
    now, found, old = time.time(), [], []
    for name, value in stored.items():
        at, queues = json.loads(value)
        if now - at > FORGOTTEN_AFTER_SECONDS:
            old.append(name)
        else:
            found.append(Process(name.decode(), queues, max(0.0, now - at)))
    if old:
        broker().hdel(_KEY, *old)
    return sorted(found)
