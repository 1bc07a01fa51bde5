"""Prepared statements on a database connection for which the event loop waits.

They use `psycopg.pq`, the part of psycopg below its cursors. A cursor takes twice the processor
time for each run: it adapts Python values, and begins to watch the socket anew for each answer. The
values here are texts, and the socket is watched while the connection is open.
"""

import asyncio
import re
from collections.abc import Sequence

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result

from league.play.statements import Rows, Values

_VALUE = re.compile(r"%\((\w+)\)s")
_BINARY = 1


class PreparedConnection:
    """A connection that runs one statement at a time.

    Args:
        connection: open, in autocommit; nobody else uses it.
    """

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._rows = Transformer(connection)
        self._prepared: dict[str, tuple[bytes, Sequence[str]]] = {}
        """By statement, its name in PostgreSQL and the names of its values in their order."""
        self._loop = asyncio.get_running_loop()
        self._arrival: asyncio.Future[None] | None = None
        """Done when an answer has arrived."""
        self._socket = self._pgconn.socket
        self._loop.add_reader(self._socket, self._read)

    async def close(self) -> None:
        """Close the connection."""
        self._loop.remove_reader(self._socket)
        await self._connection.close()

    async def run(self, statement: str, values: Values) -> Rows:
        """Run a statement in a transaction of its own; return its rows.

        Args:
            statement: with a place ``%(name)s`` for each value.
            values: the values by name, as PostgreSQL reads them.

        Raises:
            psycopg.Error: of PostgreSQL or of the connection. Close the connection then.
        """
        if statement not in self._prepared:
            await self._prepare(statement)
        name, order = self._prepared[statement]
        given = [values[each].encode() for each in order]
        self._pgconn.send_query_prepared(name, given, result_format=_BINARY)
        result = await self._result()
        self._rows.set_pgresult(result)
        return self._rows.load_rows(0, result.ntuples, tuple)

    async def _prepare(self, statement: str) -> None:
        order = list(dict.fromkeys(_VALUE.findall(statement)))
        text = _VALUE.sub(lambda found: f"${order.index(found[1]) + 1}", statement)
        name = f"statement_{len(self._prepared)}".encode()
        self._pgconn.send_prepare(name, text.encode())
        await self._result()
        self._prepared[statement] = name, order

    async def _result(self) -> pq.abc.PGresult:
        """Return the result of the statement that was sent."""
        while self._pgconn.flush():
            await self._until_writable()
        last = None
        while True:
            while self._pgconn.is_busy():
                self._arrival = self._loop.create_future()
                await self._arrival
            result = self._pgconn.get_result()
            if result is None:
                break
            last = result
        if last is None:
            raise psycopg.OperationalError("the connection has no result")
        if last.status not in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            raise error_from_result(last)
        return last

    async def _until_writable(self) -> None:
        writable = asyncio.Event()
        self._loop.add_writer(self._socket, writable.set)
        try:
            await writable.wait()
        finally:
            self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        """Take what has arrived, also while a long statement is being sent."""
        arrival = self._arrival
        try:
            self._pgconn.consume_input()
            is_whole = not self._pgconn.is_busy()
        except psycopg.Error as error:
            self._loop.remove_reader(self._socket)  # or it would be called again and again
            if arrival is not None and not arrival.done():
                arrival.set_exception(error)
        else:
            if is_whole and arrival is not None and not arrival.done():
                arrival.set_result(None)
