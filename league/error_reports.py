"""Error reports: lines of the log with an exception, sent to a server that understands Sentry's.

``SENTRY_DSN`` switches them on. A report has the exception with its places in the code, and the ids
of request, task, match and bot. It has no values of variables, no bodies and no headers.
"""

import json
import logging
import platform
import socket
import time
import traceback
import uuid
from collections import deque
from datetime import UTC, datetime
from functools import cache
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from structlog.contextvars import get_contextvars

from league.outbox import Outbox, post

MAX_IN_A_MINUTE = 30
"""Reports of one process: a fault that happens at each request must not flood the server."""
_MAX_TEXT = 1000


class Address(NamedTuple):
    """Where reports go, from a DSN such as ``https://KEY@sentry.example/7``."""

    url: str
    key: str


def address_of(dsn: str) -> Address:
    """Return the address that a DSN names, which `config.settings` has checked."""
    parts = urlsplit(dsn)
    path, _, project = parts.path.rpartition("/")
    host = parts.netloc.rpartition("@")[2]
    return Address(f"{parts.scheme}://{host}{path}/api/{project}/envelope/", parts.username or "")


class ErrorReportHandler(logging.Handler):
    """Reports each error that the log gets with an exception."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._sent: deque[float] = deque(maxlen=MAX_IN_A_MINUTE)

    def emit(self, record: logging.LogRecord) -> None:
        """Leave the report of a line to be sent."""
        error = record.exc_info[1] if record.exc_info else None
        event = record.msg if isinstance(record.msg, dict) else {}
        if error is None and isinstance(event.get("exc_info"), tuple):
            error = event["exc_info"][1]
        if error is None or self._is_flooded():
            return
        _outbox().put(_report(record, error, str(event.get("event") or record.getMessage())))

    def _is_flooded(self) -> bool:
        now = time.monotonic()
        if len(self._sent) == MAX_IN_A_MINUTE and now - self._sent[0] < 60:
            return True
        self._sent.append(now)
        return False


def flush() -> None:
    """Send the reports of this process now."""
    _outbox().flush()


@cache
def _outbox() -> Outbox[dict[str, Any]]:
    return Outbox("error reports", _send)


def _send(reports: list[dict[str, Any]]) -> None:
    address = address_of(settings.SENTRY_DSN)
    headers = {
        "Content-Type": "application/x-sentry-envelope",
        "X-Sentry-Auth": f"Sentry sentry_version=7, sentry_key={address.key}, "
        "sentry_client=twelfth-night/1",
    }
    for report in reports:
        head = {"event_id": report["event_id"], "sent_at": datetime.now(UTC).isoformat()}
        lines = [head, {"type": "event"}, report]
        post(address.url, "\n".join(map(json.dumps, lines)).encode(), headers)


def _report(record: logging.LogRecord, error: BaseException, message: str) -> dict[str, Any]:
    ids = {name: str(value)[:200] for name, value in get_contextvars().items()}
    return {
        "event_id": uuid.uuid4().hex,
        "timestamp": record.created,
        "platform": "python",
        "level": record.levelname.lower(),
        "logger": record.name,
        "server_name": socket.gethostname(),
        "message": message[:_MAX_TEXT],
        "tags": ids,
        "contexts": {"runtime": {"name": "CPython", "version": platform.python_version()}},
        "exception": {"values": _chain(error)},
    }


def _chain(error: BaseException) -> list[dict[str, Any]]:
    """Return an exception after its causes."""
    found: list[dict[str, Any]] = []
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        found.append(
            {
                "type": type(each).__name__,
                "module": type(each).__module__,
                "value": str(each)[:_MAX_TEXT],
                "stacktrace": {"frames": _frames(each.__traceback__)},
            }
        )
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return found[::-1]


def _frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    return [
        {
            "filename": frame.filename,
            "function": frame.name,
            "lineno": frame.lineno,
            "context_line": frame.line,
        }
        for frame in traceback.extract_tb(trace)
    ]
