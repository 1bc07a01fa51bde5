"""Exports: long responses. Few run at once, so that the server still answers other requests.

The web server makes a piece when the client has taken the piece before. So a client that reads
slowly holds a thread and a place. Its export ends in two ways. If it takes nothing for 20 s, the
front ends the response (`devserver/Caddyfile`); no code of ours runs while a thread waits in a
write. If it takes less than `MIN_BYTES_PER_SECOND`, the export ends here.
"""

import time
from collections.abc import Iterator
from threading import Lock

import structlog
from django.http import StreamingHttpResponse
from rest_framework.request import Request

from api.authentication import token_of
from api.problems import ProblemError
from api.renderers import Renderer
from league.accounts import throttles

MAX_AT_ONCE = 2
"""Exports at once in each process; a web server answers 16 requests at a time."""
MAX_PER_CLIENT = 1
"""Exports of one account or one address at once in each process: half, so others find a place."""
MIN_BYTES_PER_SECOND = 32 * 1024
"""A client must take this much of the uncompressed file on average, about 4 kB/s with gzip.

A slow mobile connection takes ten times as much. At this rate a file of 10 MB takes 5 min, in which
the place of another client is free.
"""
GRACE_SECONDS = 20
"""A client may pause for this long in all, beyond the time that its bytes allow."""
_WAIT = 30
"""Seconds until a client should try again."""

_lock = Lock()
_holders: list[frozenset[str]] = []
"""The account and the address of each export that runs."""
log = structlog.get_logger(__name__)


class SlowReaderError(Exception):
    """A client takes its export too slowly, so the response ends in the middle."""


class LinesRenderer(Renderer):
    """Accepts the media type of JSON Lines, for content negotiation."""

    media_type = "application/x-ndjson"
    format = "jsonl"


class CsvRenderer(Renderer):
    """Accepts the media type of CSV, for content negotiation."""

    media_type = "text/csv"
    format = "csv"


def download(
    request: Request,
    pieces: Iterator[bytes],
    filename: str,
    media_type: str = LinesRenderer.media_type,
) -> StreamingHttpResponse:
    """Return a response that streams an export as a file.

    Raises:
        ProblemError: all places for exports are taken, or the client has its part of them.
    """
    clients = {throttles.client_by_request(request._request)}
    if (token := token_of(request)) is not None:
        clients.add(throttles.client_by_token(token))
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    if request.method == "HEAD":  # else the web server makes the whole file, and sends nothing
        return StreamingHttpResponse(content_type=media_type, headers=headers)
    export = Export(pieces, frozenset(clients))
    return StreamingHttpResponse(export, content_type=media_type, headers=headers)


class Export(Iterator[bytes]):
    """An export, piece by piece. It holds one of the places until it is closed.

    Django closes it at the end of the request, also if the client disconnects or the front ends the
    response.
    """

    def __init__(self, pieces: Iterator[bytes], clients: frozenset[str]) -> None:
        with _lock:
            if sum(not clients.isdisjoint(each) for each in _holders) >= MAX_PER_CLIENT:
                raise _refusal(
                    "An export to your account or address is already running; the maximum is "
                    f"{MAX_PER_CLIENT} at a time."
                )
            if len(_holders) >= MAX_AT_ONCE:
                raise _refusal(
                    f"The server is busy: {MAX_AT_ONCE} exports are running, the maximum."
                )
            _holders.append(clients)
        self._clients = clients
        self._open = True
        self._pieces = pieces
        self._bytes = 0
        self._reading_seconds = 0.0
        self._given_at: float | None = None

    def __next__(self) -> bytes:
        """Return the next piece.

        Raises:
            SlowReaderError: the client takes the pieces too slowly.
        """
        if self._given_at is not None:  # the league's time for making a piece does not count
            self._reading_seconds += time.monotonic() - self._given_at
        if self._reading_seconds > GRACE_SECONDS + self._bytes / MIN_BYTES_PER_SECOND:
            log.warning("an export ends early: its client is too slow", sent_bytes=self._bytes)
            raise SlowReaderError(f"less than {MIN_BYTES_PER_SECOND} bytes a second")
        piece = next(self._pieces)
        self._bytes += len(piece)
        self._given_at = time.monotonic()
        return piece

    def close(self) -> None:
        """Free the place."""
        with _lock:
            if self._open:
                self._open = False
                _holders.remove(self._clients)


def _refusal(why: str) -> ProblemError:
    return ProblemError(
        "too-many-requests",
        f"{why} Try again in {_WAIT} s.",
        headers={"Retry-After": str(_WAIT)},
    )
