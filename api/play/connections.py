"""Database connections on which the event loop itself waits for statements, without threads.

A thread that decides on moves competes with the event loop for Python's lock. That took a third of
the time of a move.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections

from api.play.prepared import PreparedConnection
from api.play.refused_writes import refused_writes
from league.play.statements import PLANNED_ONCE, PLANNING, Rows, Run, Values

Result = TypeVar("Result")


class _Connection(NamedTuple):
    """A connection that is open.

    Attributes:
        prepared: runs the statements.
        until: the time by `time.monotonic` after which it is not used again.
    """

    prepared: PreparedConnection
    until: float


class LoopConnections:
    """A few connections, each for one work at a time. Further works wait.

    Args:
        count: of the connections.
    """

    def __init__(self, count: int) -> None:
        # Never opened, because Django's connections block. It has the settings and the errors.
        self._django = connections.create_connection(DEFAULT_DB_ALIAS)
        self._places = asyncio.Semaphore(count)
        self._idle: list[_Connection] = []

    async def close(self) -> None:
        """Close the connections that no work uses."""
        while self._idle:
            await self._idle.pop().prepared.close()

    async def do(self, work: Callable[[Run], Awaitable[Result]]) -> Result:
        """Return a work's result. If its connection is broken, do it once more on a new one.

        Args:
            work: receives a function that runs a statement. Each statement is its own transaction.

        Raises:
            OperationalError, InterfaceError: the database can't be reached.
        """
        async with self._places:
            try:
                return await self._try(work)
            except (OperationalError, InterfaceError):
                await self.close()  # whatever broke one connection broke the others too
                try:
                    return await self._try(work)
                except OperationalError as error:
                    refused_writes.note(error)
                    raise

    async def _try(self, work: Callable[[Run], Awaitable[Result]]) -> Result:
        connection = self._idle.pop() if self._idle else await self._connect()
        try:
            result = await work(partial(self._run, connection.prepared))
        except BaseException:
            with suppress(psycopg.Error):
                await connection.prepared.close()
            raise
        if time.monotonic() < connection.until:
            self._idle.append(connection)
        else:
            await connection.prepared.close()
        return result

    async def _run(self, prepared: PreparedConnection, statement: str, values: Values) -> Rows:
        with self._django.wrap_database_errors:
            return await prepared.run(statement, values)

    async def _connect(self) -> _Connection:
        """Open a connection as `config.postgres` does, but with psycopg's own, faster types."""
        parameters: dict[str, Any] = self._django.get_connection_params()
        for name in ("context", "cursor_factory"):
            del parameters[name]
        with self._django.wrap_database_errors:
            opened = await psycopg.AsyncConnection.connect(**parameters, autocommit=True)
            for statement in (PLANNED_ONCE, PLANNING, "SET TIME ZONE 'UTC'"):
                await opened.execute(statement)
        max_age = settings.DATABASES[DEFAULT_DB_ALIAS]["CONN_MAX_AGE"]
        return _Connection(PreparedConnection(opened), time.monotonic() + max_age)
