"""Wake-ups from Valkey, and a regular look-up in the database for those that were lost.

A wake-up carries no data. Woken requests answer with what the database contains.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Protocol

import redis.asyncio
import structlog
from django.db import Error as DatabaseError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from league.play.wakeups import is_from_here

log = structlog.get_logger(__name__)

REFRESH_SECONDS = 1.0
"""Time between two refreshes of all waiters, which find what a lost wake-up announced."""
RECONNECT_SECONDS = 0.25


class Waiters(Protocol):
    """Requests that wait for one kind of change: turns of bots, or events or starts of matches."""

    def wake(self, ids: Iterable[int]) -> None:
        """Wake the requests that wait for these bots or matches."""

    async def refresh(self) -> None:
        """Read the database, and wake the requests that have missed a wake-up."""

    async def close(self) -> None:
        """Cancel the queries under way."""


class WakeupListener:
    """Wakes waiters by the wake-ups of their channels, and refreshes them regularly.

    All waiters are refreshed each `REFRESH_SECONDS`, and at once after each (re)connection.
    """

    def __init__(self, redis_url: str, waiters: Mapping[str, Sequence[Waiters]]) -> None:
        self._redis_url = redis_url
        self._waiters = {channel.encode(): kinds for channel, kinds in waiters.items()}
        self._refresh_now = asyncio.Event()
        self._tasks: Sequence[asyncio.Task[None]] = ()

    async def __aenter__(self) -> "WakeupListener":
        self._tasks = [
            asyncio.create_task(self._run_forever(self._listen)),
            asyncio.create_task(self._run_forever(self._refresh_regularly)),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for waiters in chain.from_iterable(self._waiters.values()):
            await waiters.close()

    async def _listen(self) -> None:
        client = redis.asyncio.Redis.from_url(
            self._redis_url, retry=Retry(NoBackoff(), 0), health_check_interval=10
        )
        async with client, client.pubsub(ignore_subscribe_messages=True) as subscription:
            await subscription.subscribe(*self._waiters)
            self._refresh_now.set()  # wake-ups of the time without a connection are lost
            async for message in subscription.listen():
                if is_from_here(message["data"]):
                    continue
                ids = _ids(message["data"])
                for waiters in self._waiters[message["channel"]]:
                    waiters.wake(ids)

    async def _refresh_regularly(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._refresh_now.wait(), REFRESH_SECONDS)
            self._refresh_now.clear()
            for waiters in chain.from_iterable(self._waiters.values()):
                await waiters.refresh()

    async def _run_forever(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run work that ends only by errors again and again: a server may be away for a while."""
        while True:
            try:
                await work()
            except (redis.RedisError, DatabaseError, OSError) as error:
                log.warning("wake-ups were interrupted and start again", error=str(error))
            except Exception:
                log.exception("wake-ups failed and start again")
            await asyncio.sleep(RECONNECT_SECONDS)


def _ids(data: bytes) -> list[int]:
    return [int(part) for part in data.split() if part.isdigit()]
