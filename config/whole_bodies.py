"""WSGI middleware that reads what the application has left of a request's body.

The web server closes a connection with unread data. The front has such connections open for later
requests of all clients, so the next of these fails if it can't be sent twice. Without this a client
could make requests of others fail, with long bodies that are refused before they are read.

A body of unknown length is one that the front cuts off at its limit. An answer before that, or a
closed connection, would reach the client in place of the front's answer, which names the limit.
"""

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_CHUNK_BYTES = 64 * 1024


class WholeBodies:
    """An application after which no data of the request are left.

    Args:
        application: the application.
        max_bytes: the longest body that any call takes. What is longer stays unread: the answer
            closes the connection.
    """

    def __init__(self, application: WSGIApplication, max_bytes: int) -> None:
        self._application = application
        self._max_bytes = max_bytes

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Return the response of the application."""
        try:
            return self._application(environ, start_response)
        finally:
            length = environ.get("CONTENT_LENGTH") or "0"
            is_short = length.isdecimal() and 0 < int(length[:20]) <= self._max_bytes
            if is_short or "HTTP_TRANSFER_ENCODING" in environ:
                _read_rest(environ["wsgi.input"], self._max_bytes)


def _read_rest(body: Any, most: int) -> None:
    while most > 0 and (chunk := body.read(_CHUNK_BYTES)):
        most -= len(chunk)
