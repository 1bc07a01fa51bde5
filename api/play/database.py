"""The gateway's database queries, run in a few threads.

Each thread keeps its connection. A request holds a thread only during a query.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Barrier
from typing import Any, TypeVar

from django.db import (
    InterfaceError,
    OperationalError,
    close_old_connections,
    connection,
    connections,
)
from django.utils import timezone

from api.play.requests import encode_event
from league import play
from league.models import Bot
from league.play.spectating import FeedEvent, MatchFeed
from league.play.turns import newest_open, note_all_seen

THREADS = 4

Result = TypeVar("Result")


class EncodedTurn:
    """An open turn as bytes to send, encoded once for all requests that wait for it.

    Attributes:
        key: the match's id and the turn's number.
        body: the turn as JSON.
    """

    __slots__ = ("body", "key")

    def __init__(self, turn: dict[str, Any]) -> None:
        self.key: tuple[int, int] = (turn["match"], turn["turn"])
        self.body = json.dumps(turn, separators=(",", ":")).encode()


class EncodedEvent:
    """An event of a match as bytes to send, encoded once for all spectators.

    Attributes:
        id: the event's id, for ``Last-Event-ID``.
        body: the server-sent event.
    """

    __slots__ = ("body", "id")

    def __init__(self, event: FeedEvent) -> None:
        self.id = event.id
        data = json.dumps(event.data, separators=(",", ":")).encode()
        self.body = encode_event(event.kind, data, event.id)


class Database:
    """Queries as coroutines."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="gateway-db")

    def close(self) -> None:
        """End the threads and close their connections."""
        all_closed = Barrier(THREADS)  # keeps each thread until every thread has closed its own

        def close() -> None:
            connections.close_all()
            all_closed.wait()

        for _ in range(THREADS):
            self._threads.submit(close)
        self._threads.shutdown()

    async def run(self, query: Callable[[], Result]) -> Result:
        """Return a query's result. If its connection is broken, run it once more on a new one.

        Raises:
            OperationalError, InterfaceError: the database can't be reached.
        """
        loop = asyncio.get_running_loop()
        context = copy_context()  # with the ids that are bound for the log
        return await loop.run_in_executor(self._threads, context.run, _with_connection, query)

    async def open_turns(self, bot: Bot) -> list[EncodedTurn]:
        """Hand out the open turns of a bot."""
        return await self.run(
            lambda: [EncodedTurn(turn) for turn in play.open_turns(bot, timezone.now())]
        )

    async def new_events(self, feed: MatchFeed) -> list[EncodedEvent]:
        """Return the new events of a match."""
        return await self.run(lambda: [EncodedEvent(event) for event in feed.new_events()])

    async def newest_open(self, bot_ids: Sequence[int], *, seen: bool) -> dict[int, int]:
        """Return the newest open turn's id by bot, for bots that have an open turn.

        Args:
            bot_ids: bots with waiting requests.
            seen: also store that these bots are online.
        """

        def query() -> dict[int, int]:
            if seen:
                note_all_seen(list(bot_ids), timezone.now())
            return newest_open(list(bot_ids))

        return await self.run(query)


def check_database() -> None:
    """Read from the database.

    Raises:
        OperationalError, InterfaceError: it can't be reached.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _with_connection(query: Callable[[], Result]) -> Result:
    close_old_connections()
    try:
        return query()
    except (OperationalError, InterfaceError):
        close_old_connections()
        return query()
