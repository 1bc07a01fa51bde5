"""Who waits for turns in this process, and what wakes them.

Hints come by one Redis subscription. Since a hint can be lost, a shared timer asks the database
every `LOOK_EVERY` seconds, in one query for all who wait, and at once after each (re)connection.
Whoever is to be woken is woken by what the database has, never by the hint's content.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import redis.asyncio
from django.db import Error as DatabaseError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from league.models import Bot
from league.play.wakeups import TURNS
from league.waiting.database import Database, OfferedTurn

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0
SEEN_AT_EACH = 15
"""Of how many looks one notes the waiting bots as seen."""
RECONNECT_AFTER = 0.25


class Waiter(Protocol):
    """Somebody who waits for the turns of one bot."""

    insatiable: bool
    """Whether it goes on waiting after it was offered turns."""

    def offer(self, turns: Sequence[OfferedTurn]) -> None:
        """Take the open turns, of which there is at least one."""


@dataclass(slots=True)
class _Bot:
    bot: Bot
    waiters: set[Waiter] = field(default_factory=set)
    newest: int = 0
    asking: asyncio.Task[None] | None = None
    again: bool = False


class Hub:
    """All who wait, by bot."""

    def __init__(self, database: Database, redis_url: str) -> None:
        self._database = database
        self._redis_url = redis_url
        self._bots: dict[int, _Bot] = {}
        self._look = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Hub":
        self._tasks = [
            asyncio.create_task(self._keep(self._listen)),
            asyncio.create_task(self._keep(self._look_now_and_then)),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        asking = [entry.asking for entry in self._bots.values() if entry.asking]
        for task in (*self._tasks, *asking):
            task.cancel()
        await asyncio.gather(*self._tasks, *asking, return_exceptions=True)

    def __len__(self) -> int:
        return sum(len(entry.waiters) for entry in self._bots.values())

    def add(self, bot: Bot, waiter: Waiter) -> None:
        """Register somebody. Only then look into the database, so that no turn falls between."""
        self._bots.setdefault(bot.pk, _Bot(bot)).waiters.add(waiter)

    def remove(self, bot: Bot, waiter: Waiter) -> None:
        """Forget somebody."""
        entry = self._bots.get(bot.pk)
        if entry is not None:
            entry.waiters.discard(waiter)
            if not entry.waiters:
                del self._bots[bot.pk]

    def wake(self, bot_ids: Iterable[int]) -> None:
        """See to those who wait for turns of these bots: one query a bot, however many wait."""
        for bot_id in bot_ids:
            entry = self._bots.get(bot_id)
            if entry is None:
                continue
            if entry.asking is None or entry.asking.done():
                entry.asking = asyncio.create_task(self._ask(entry))
            else:
                entry.again = True

    async def _ask(self, entry: _Bot) -> None:
        entry.again = True
        while entry.again:
            entry.again = False
            try:
                turns = await self._database.open_turns(entry.bot)
            except DatabaseError as error:
                log.warning("turns of %s could not be read: %s", entry.bot, error)
                entry.newest = 0  # so that the next look tries again
                return
            if turns:
                for waiter in list(entry.waiters):
                    waiter.offer(turns)

    async def _listen(self) -> None:
        client = redis.asyncio.Redis.from_url(
            self._redis_url, retry=Retry(NoBackoff(), 0), health_check_interval=10
        )
        async with client, client.pubsub(ignore_subscribe_messages=True) as subscription:
            await subscription.subscribe(TURNS)
            self._look.set()  # whatever was said meanwhile was not heard
            async for message in subscription.listen():
                self.wake(_ids(message["data"]))

    async def _look_now_and_then(self) -> None:
        looks = 0
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), LOOK_EVERY)
            self._look.clear()
            if self._bots:
                looks += 1
                newest = await self._database.newest_open(
                    list(self._bots), seen=looks % SEEN_AT_EACH == 0
                )
                self.wake(bot_id for bot_id, turn in newest.items() if self._is_news(bot_id, turn))

    def _is_news(self, bot_id: int, turn: int) -> bool:
        """Return whether anybody who waits for a bot may not know of its newest turn."""
        entry = self._bots.get(bot_id)
        if entry is None:
            return False
        known, entry.newest = entry.newest, turn
        return turn != known or not all(waiter.insatiable for waiter in entry.waiters)

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
