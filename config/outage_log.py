"""One line in the log when PostgreSQL or the broker goes away, and one when it answers again.

While it stays away, further lines come after a minute, three minutes, seven and so on, at most an
hour apart.

While a server is away, every request, task and retry fails by it. A filter of the log's handler
counts their lines instead of writing them. The first one of a process starts a thread that tries
the server until it answers. Of the processes of one part, one writes both lines.
"""

import logging
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import redis
from django.conf import settings

log = logging.getLogger("config.outage_log")

DATABASE, BROKER = "the database", "the broker"

TRY_EVERY_SECONDS = 0.5
LATE_SECONDS = 3.0
"""After an outage, lines about it may still come for so long: connections that it broke."""
REMIND_SECONDS = 60.0
"""After so long comes the first further line of an outage; each pause is twice the last."""
_MAX_REMIND_SECONDS = 3600.0
_TRY_SECONDS = 2
_MAX_CHAIN = 10
_CONNECTION_STATES = ("08", "57P01", "57P02", "57P03")
"""SQLSTATEs of connections that failed or that the server ended."""
_ACKNOWLEDGING = ("kombu", "celery.worker.request")
"""Their critical lines are about tasks that they could not acknowledge; others end a process."""
_BROKER_LOGGERS = ("celery", "kombu", "config.beat")
"""Their plain errors of the operating system are errors of the broker's connection."""


def server_of(record: logging.LogRecord) -> str | None:
    """Return the server whose outage a line is about, None for any other line.

    The error is that of the line, one among its values, or the one that is being handled.
    """
    if record.name == log.name or record.levelno < logging.WARNING:
        return None
    if record.levelno >= logging.CRITICAL and not record.name.startswith(_ACKNOWLEDGING):
        return None
    values = record.args if isinstance(record.args, tuple) else ()
    given = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
    for error in (given, *values):
        for each in _chain(error) if isinstance(error, BaseException) else ():
            if isinstance(each, psycopg.Error) and _is_lost(each):
                return DATABASE
            if isinstance(each, redis.ConnectionError | redis.TimeoutError):
                return BROKER
            if isinstance(each, OSError) and record.name.startswith(_BROKER_LOGGERS):
                return BROKER
    return None


def _is_lost(error: psycopg.Error) -> bool:
    """Return whether an error is that of a connection, not that of a statement."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_CONNECTION_STATES)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and the errors that led to it."""
    for _ in range(_MAX_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def try_database() -> None:
    """Run a statement on a new connection.

    Raises:
        psycopg.Error: the database does not answer.
    """
    given = settings.DATABASES["default"]
    known: dict[str, Any] = {
        "dbname": given.get("NAME"),
        "user": given.get("USER"),
        "password": given.get("PASSWORD"),
        "host": given.get("HOST"),
        "port": given.get("PORT"),
    }
    # Without the other parts of its address, such as sslcert, a server may refuse each try.
    options = given.get("OPTIONS", {}) | {"connect_timeout": _TRY_SECONDS}
    with psycopg.connect(**options, **known) as connection:
        connection.execute("SELECT 1")


def try_broker() -> None:
    """Send a ping on a new connection.

    Raises:
        redis.RedisError: the broker does not answer.
    """
    with redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_TRY_SECONDS, socket_connect_timeout=_TRY_SECONDS
    ) as client:
        client.ping()


class OutageFilter(logging.Filter):
    """Leaves out the lines about an outage, except for its first and its last."""

    def __init__(self, tries: Mapping[str, Callable[[], object]] | None = None) -> None:
        """Create a filter.

        Args:
            tries: by server, a function that raises an error while the server does not answer.
        """
        super().__init__()
        tries = tries or {DATABASE: try_database, BROKER: try_broker}
        self._outages = {server: _Outage(server, attempt) for server, attempt in tries.items()}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a line."""
        server = server_of(record)
        if server is None:
            return True
        self._outages[server].note(record)
        return False


class _Outage:
    """The state of one server, as this process sees it."""

    def __init__(self, server: str, attempt: Callable[[], object]) -> None:
        self._server, self._try = server, attempt
        self._lock = threading.Lock()
        self._is_away = False
        self._left_out = 0
        self._claim: socket.socket | None = None
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Begin anew in a forked process, which has none of the threads."""
        self._lock = threading.Lock()
        self._is_away = False
        if self._claim:
            self._claim.close()
            self._claim = None

    def note(self, record: logging.LogRecord) -> None:
        """Count a line about the outage; if it is the first, begin the outage."""
        with self._lock:
            self._left_out += 1
            if self._is_away:
                return
            self._is_away = True
            self._left_out = 0
            self._claim = _claim(self._server)
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        if self._claim:
            reason = " ".join(str(error or record.getMessage()).split())
            log.warning("%s does not answer: %s (%s)", self._server, reason, _origin(record, error))
        try:
            threading.Thread(target=self._await_end, name="outage", daemon=True).start()
        except RuntimeError:  # no thread is free, or the process ends; the next line tries again
            with self._lock:
                self._is_away = False
                claim, self._claim = self._claim, None
            if claim:
                claim.close()

    def _await_end(self) -> None:
        """Wait until the server answers and no late line can come, then end the outage."""
        began = time.monotonic()
        pause = REMIND_SECONDS
        remind_at = began + pause
        while True:
            while not self._answers():
                time.sleep(TRY_EVERY_SECONDS)
                if (now := time.monotonic()) >= remind_at:
                    pause = min(2 * pause, _MAX_REMIND_SECONDS)
                    remind_at = now + pause
                    self._remind(now - began)
            seconds = time.monotonic() - began
            time.sleep(LATE_SECONDS)
            if self._answers():
                break
        with self._lock:
            self._is_away = False
            left_out = self._left_out
            claim, self._claim = self._claim, None
        if claim:
            log.warning(
                "%s answered again after %.1f s; %d more lines about it are left out",
                self._server,
                seconds,
                left_out,
            )
            claim.close()

    def _remind(self, seconds: float) -> None:
        if self._claim:
            log.warning("%s has not answered for %.0f s", self._server, seconds)

    def _answers(self) -> bool:
        try:
            self._try()
        except Exception:
            return False
        return True


def _origin(record: logging.LogRecord, error: BaseException | None) -> str:
    """Return who logged the first line of an outage, and where its error was raised.

    A fault of our own may look like an outage: then only this leads to it.
    """
    at = ""
    for frame, line in traceback.walk_tb(
        error.__traceback__ if error else None
    ):  # the last one counts
        at = f", {'/'.join(Path(frame.f_code.co_filename).parts[-2:])}:{line}"
    return f"from {record.name}{at}"


def _claim(server: str) -> socket.socket | None:
    """Claim an outage for this process, None if another process of the same part has claimed it.

    The processes of a part are those of one session. The system frees an abstract socket when its
    process ends.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    if sys.platform != "linux":
        return claim
    try:
        claim.bind(f"\0league-outage:{os.getsid(0)}:{server}")
    except OSError:
        claim.close()
        return None
    return claim
