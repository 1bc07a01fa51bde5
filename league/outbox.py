"""Sends what a process has collected to another server, from its own thread, in portions.

The thread lives only while something waits, so a league at rest does nothing. What can't be sent
is lost, and so is what comes while too much waits: nothing that plays waits for an outbox.
"""

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from typing import Generic, TypeVar
from urllib.error import URLError
from urllib.request import Request, urlopen

import structlog

log = structlog.get_logger(__name__)
Item = TypeVar("Item")

SEND_EVERY_SECONDS = 1.0
MAX_ITEMS = 2000
_TIMEOUT_SECONDS = 5.0


class Outbox(Generic[Item]):
    """Items that wait to be sent.

    Args:
        name: what the log calls it.
        send: sends a portion; it may raise OSError.
    """

    def __init__(self, name: str, send: Callable[[list[Item]], None]) -> None:
        self._name, self._send = name, send
        self._has_failed = False
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.flush)

    def _begin(self) -> None:
        """Begin empty, in a forked process too: it has none of the threads."""
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self._timer: threading.Timer | None = None

    def put(self, item: Item) -> None:
        """Leave an item to the thread."""
        with self._lock:
            if len(self._items) >= MAX_ITEMS:
                return
            self._items.append(item)
            if self._timer is None:
                timer = threading.Timer(SEND_EVERY_SECONDS, self.flush)
                timer.daemon = True
                with suppress(RuntimeError):  # no thread is free; the next item tries again
                    timer.start()
                    self._timer = timer

    def flush(self) -> None:
        """Send all items now; log the first of several failures."""
        with self._lock:
            items, self._items = self._items, []
            self._timer = None
        if not items:
            return
        try:
            self._send(items)
        except (OSError, ValueError) as error:
            if not self._has_failed:
                log.warning(f"{self._name} can't be sent; they are lost", error=str(error))
            self._has_failed = True
        else:
            self._has_failed = False


def post(url: str, body: bytes, headers: dict[str, str]) -> None:
    """Send a body by ``POST``.

    Raises:
        OSError: the server can't be reached, or its answer is no success.
    """
    request = Request(url, data=body, headers=headers, method="POST")
    try:
        with urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
            response.read()
    except URLError as error:
        raise OSError(f"{url}: {error.reason}") from error
    except HTTPException as error:  # such as from a collector's port for gRPC
        raise OSError(f"{url}: the answer is not HTTP ({error!r})") from error
