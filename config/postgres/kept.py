"""Database connections that a worker keeps while none of its tasks uses them.

Celery closes connections before and after each task. A new connection starts a process of
PostgreSQL, which reads the catalogue again, and that takes longer than most tasks. So a connection
that is closed in a worker stays open here, for the next task of any thread. The last one is taken
first, so many threads need few connections.
"""

import os
import select
import time
from threading import Lock
from typing import NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

MAX_SECONDS = 600.0
"""The age at which a connection is closed, since PostgreSQL's process grows with its work."""
MAX_IDLE_SECONDS = 30.0
"""After so long without use a connection is closed, once a task takes or leaves another one."""


class Opened(NamedTuple):
    """A connection.

    Attributes:
        connection: of psycopg.
        at: when it was opened, by the monotonic clock.
        process: the id of the process that opened it.
    """

    connection: "psycopg.Connection"
    at: float
    process: int

    @classmethod
    def now(cls, connection: "psycopg.Connection") -> "Opened":
        """Note a connection that this process has just opened."""
        return cls(connection, time.monotonic(), os.getpid())

    def may_stay(self) -> bool:
        """Return whether another task can use it as a new one."""
        connection = self.connection
        return (
            self.process == os.getpid()
            and time.monotonic() < self.at + MAX_SECONDS
            and not connection.closed
            and connection.autocommit
            and connection.info.transaction_status == TransactionStatus.IDLE
        )


class Kept:
    """The kept connections of this process. All threads may use it."""

    def __init__(self) -> None:
        """Keep nothing until `begin`."""
        self._is_on = False
        self._lock = Lock()
        self._idle: list[tuple[float, Opened]] = []
        """Each with the time at which it was left, in this order."""
        self._of_parent: list[tuple[float, Opened]] = []
        """Those of the process that this one was forked from, which alone may end them."""

    def _begin_again(self) -> None:
        self._lock = Lock()
        self._of_parent += self._idle
        self._idle = []

    def begin(self) -> None:
        """Keep connections from now on, in processes that fork from this one too."""
        self._is_on = True
        os.register_at_fork(after_in_child=self._begin_again)

    def take(self) -> Opened | None:
        """Return the open connection that was left last; None if there is none."""
        with self._lock:
            self._close_idle()
            while self._idle:
                _, opened = self._idle.pop()
                if is_open(opened.connection):
                    return opened
                opened.connection.close()
        return None

    def leave(self, opened: Opened) -> bool:
        """Keep a connection; return False if its owner has to close it."""
        if not self._is_on or not opened.may_stay():
            return False
        with self._lock:
            self._close_idle()
            self._idle.append((time.monotonic(), opened))
        return True

    def _close_idle(self) -> None:
        since = time.monotonic() - MAX_IDLE_SECONDS
        while self._idle and self._idle[0][0] < since:
            self._idle.pop(0)[1].connection.close()


def is_open(connection: "psycopg.Connection") -> bool:
    """Return whether an idle connection is still open, without a query.

    The server sends nothing on an idle connection before it closes it. So any readable byte, or the
    end of the stream, means that a new connection is needed.
    """
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


KEPT = Kept()
