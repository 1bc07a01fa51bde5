"""Threads with database connections, for queries of coroutines."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from threading import Barrier
from typing import TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connections

from api.play.refused_writes import refused_writes

Result = TypeVar("Result")


async def call_in_thread(work: Callable[[], Result]) -> Result:
    """Call a function that may wait, in a thread that keeps its connection to the cache.

    Django has a cache for each context. `asyncio.to_thread` copies the context, so each of its
    calls would open a new connection.
    """
    return await asyncio.get_running_loop().run_in_executor(None, work)


class ConnectedThreads:
    """A few threads, each with its connection. A request holds a thread only during a query.

    Args:
        count: of the threads.
        name: the start of their names.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=name)

    def close(self) -> None:
        """End the threads and close their connections."""
        all_closed = Barrier(self._count)  # keeps each thread until all have closed their own

        def close() -> None:
            connections.close_all()
            all_closed.wait()

        for _ in range(self._count):
            self._threads.submit(close)
        self._threads.shutdown()

    async def run(self, query: Callable[[], Result]) -> Result:
        """Return a query's result. If its connection is broken, run it once more on a new one.

        Raises:
            OperationalError, InterfaceError: the database can't be reached.
        """
        return await self.start(query, copy_context())  # with the ids that are bound for the log

    def start(self, query: Callable[[], Result], context: Context) -> asyncio.Future[Result]:
        """Start a query as `run` does, in a context; return its future result."""
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._threads, context.run, _with_connection, query)


def _with_connection(query: Callable[[], Result]) -> Result:
    close_old_connections()
    try:
        return query()
    except (OperationalError, InterfaceError):
        close_old_connections()
        try:
            return query()
        except OperationalError as error:
            refused_writes.note(error)
            raise
