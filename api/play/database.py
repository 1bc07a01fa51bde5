"""What the waiting application asks the database, in a few threads of its own.

A thread keeps its connection; a request has a thread for as long as it takes to answer it.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connections
from django.utils import timezone

from league import play
from league.models import Bot
from league.play.spectating import FeedEvent, MatchFeed
from league.play.turns import newest_open, note_all_seen

THREADS = 4

Result = TypeVar("Result")


class OfferedTurn:
    """An open turn as it goes out: encoded once, however many wait for it."""

    __slots__ = ("body", "key")

    def __init__(self, turn: dict[str, Any]) -> None:
        self.key: tuple[int, int] = (turn["match"], turn["turn"])
        self.body = json.dumps(turn, separators=(",", ":")).encode()


class ToldEvent:
    """An event of a match as it goes out: encoded once, however many watch."""

    __slots__ = ("body", "id")

    def __init__(self, event: FeedEvent) -> None:
        self.id = event.id
        data = json.dumps(event.data, separators=(",", ":"))
        self.body = f"event: {event.kind}\nid: {event.id}\ndata: {data}\n\n".encode()


class Database:
    """Queries as coroutines."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="waiting-db")

    def close(self) -> None:
        """End the threads and their connections."""
        all_here = Barrier(THREADS)  # so that each thread closes its own

        def close() -> None:
            connections.close_all()
            all_here.wait()

        for _ in range(THREADS):
            self._threads.submit(close)
        self._threads.shutdown()

    async def run(self, query: Callable[[], Result]) -> Result:
        """Return what a query gives; one more try if its connection was found broken.

        Raises:
            OperationalError, InterfaceError: the database can't be reached.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _with_connection, query)

    async def open_turns(self, bot: Bot) -> list[OfferedTurn]:
        """Hand out the open turns of a bot."""
        return await self.run(
            lambda: [OfferedTurn(turn) for turn in play.open_turns(bot, timezone.now())]
        )

    async def new_events(self, feed: MatchFeed) -> list[ToldEvent]:
        """Return the new events of a match."""
        return await self.run(lambda: [ToldEvent(event) for event in feed.new_events()])

    async def newest_open(self, bot_ids: Sequence[int], *, seen: bool) -> dict[int, int]:
        """Return the newest open turn of those of the bots that have one.

        Args:
            bot_ids: who waits.
            seen: note too that they do.
        """

        def query() -> dict[int, int]:
            if seen:
                note_all_seen(list(bot_ids), timezone.now())
            return newest_open(list(bot_ids))

        return await self.run(query)


def _with_connection(query: Callable[[], Result]) -> Result:
    close_old_connections()
    try:
        return query()
    except (OperationalError, InterfaceError):
        close_old_connections()
        return query()
