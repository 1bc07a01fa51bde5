"""Exports: long responses. Few run at once, so that the server still answers other requests."""

from collections.abc import Iterator
from threading import BoundedSemaphore

from django.http import StreamingHttpResponse

from api.problems import ProblemError
from api.renderers import Renderer

MAX_AT_ONCE = 2
"""Exports at once in each process; a web server answers four requests at a time."""
_WAIT = 30
"""Seconds until a client should try again."""

_places = BoundedSemaphore(MAX_AT_ONCE)


class LinesRenderer(Renderer):
    """Accepts the media type of JSON Lines, for content negotiation."""

    media_type = "application/x-ndjson"
    format = "jsonl"


class CsvRenderer(Renderer):
    """Accepts the media type of CSV, for content negotiation."""

    media_type = "text/csv"
    format = "csv"


def download(
    pieces: Iterator[bytes], filename: str, media_type: str = LinesRenderer.media_type
) -> StreamingHttpResponse:
    """Return a response that streams an export as a file.

    Raises:
        ProblemError: all places for exports are taken.
    """
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return StreamingHttpResponse(Export(pieces), content_type=media_type, headers=headers)


class Export(Iterator[bytes]):
    """An export, piece by piece. It holds one of the places until it is closed.

    Django closes it at the end of the request, also if the client disconnects.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        if not _places.acquire(blocking=False):
            raise ProblemError(
                "too-many-requests",
                f"The server already sends {MAX_AT_ONCE} exports, and it sends no more at the same "
                f"time. Try again in {_WAIT} s.",
                headers={"Retry-After": str(_WAIT)},
            )
        self._open = True
        self._pieces = pieces

    def __next__(self) -> bytes:
        """Return the next piece."""
        return next(self._pieces)

    def close(self) -> None:
        """Free the place."""
        if self._open:
            self._open = False
            _places.release()
