"""A server of a test, in a thread."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

_Server = TypeVar("_Server", bound=socketserver.BaseServer)


@contextmanager
def serving(server: _Server) -> Iterator[_Server]:
    """Let a server answer in a thread until the context ends; it is closed then."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield server
        server.shutdown()
        thread.join()
