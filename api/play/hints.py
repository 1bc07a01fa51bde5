"""Hints and looks: how this process hears that something happened.

Hints come by one Redis subscription. Since a hint can be lost, a shared timer asks the database
every `LOOK_EVERY` seconds, and at once after each (re)connection. Whoever is to be woken is woken
by what the database has, never by a hint's content.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

import redis.asyncio
from django.db import Error as DatabaseError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0
RECONNECT_AFTER = 0.25


class Crowd(Protocol):
    """Those who wait for one kind of thing."""

    def wake(self, ids: Iterable[int]) -> None:
        """See to those who wait for things with these ids, as a hint said."""

    async def look(self) -> None:
        """Ask the database whether anybody is to be woken."""

    async def close(self) -> None:
        """End what is under way."""


class Ears:
    """Hears hints for crowds, by channel, and has them look now and then."""

    def __init__(self, redis_url: str, crowds: Mapping[str, Crowd]) -> None:
        self._redis_url = redis_url
        self._crowds = {channel.encode(): crowd for channel, crowd in crowds.items()}
        self._look = asyncio.Event()
        self._tasks: Sequence[asyncio.Task[None]] = ()

    async def __aenter__(self) -> "Ears":
        self._tasks = [
            asyncio.create_task(self._keep(self._listen)),
            asyncio.create_task(self._keep(self._look_now_and_then)),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for crowd in self._crowds.values():
            await crowd.close()

    async def _listen(self) -> None:
        client = redis.asyncio.Redis.from_url(
            self._redis_url, retry=Retry(NoBackoff(), 0), health_check_interval=10
        )
        async with client, client.pubsub(ignore_subscribe_messages=True) as subscription:
            await subscription.subscribe(*self._crowds)
            self._look.set()  # whatever was said meanwhile was not heard
            async for message in subscription.listen():
                self._crowds[message["channel"]].wake(_ids(message["data"]))

    async def _look_now_and_then(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), LOOK_EVERY)
            self._look.clear()
            for crowd in self._crowds.values():
                await crowd.look()

    async def _keep(self, work: Callable[[], Awaitable[None]]) -> None:
        """Go on with something that ends only by errors: servers may be away for a while."""
        while True:
            try:
                await work()
            except (redis.RedisError, DatabaseError, OSError) as error:
                log.warning("waiting: %s; trying again", error)
            except Exception:
                log.exception("waiting: trying again")
            await asyncio.sleep(RECONNECT_AFTER)


def _ids(data: bytes) -> list[int]:
    return [int(part) for part in data.split() if part.isdigit()]
