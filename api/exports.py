"""Exports: long responses. Few run at once, so that the server still answers other requests."""

from collections.abc import Iterator
from threading import BoundedSemaphore

from league.models import Ladder
from league.ratings.exporting import export_ladder

MAX_AT_ONCE = 2
"""Exports at once in each process; a web server answers four requests at a time."""
_WAIT = 30
"""Seconds until a client should try again."""

_places = BoundedSemaphore(MAX_AT_ONCE)


class BusyError(Exception):
    """All places for exports are taken.

    Attributes:
        wait: seconds until the client should try again.
    """

    wait = _WAIT


class Export(Iterator[bytes]):
    """The export of a ladder, piece by piece. It holds one of the places until it is closed.

    Django closes it at the end of the request, also if the client disconnects.
    """

    def __init__(self, ladder: Ladder) -> None:
        if not _places.acquire(blocking=False):
            raise BusyError(
                f"The server already sends {MAX_AT_ONCE} exports, which is the most at once."
            )
        self._open = True
        self._pieces = export_ladder(ladder)

    def __next__(self) -> bytes:
        """Return the next piece."""
        return next(self._pieces)

    def close(self) -> None:
        """Free the place."""
        if self._open:
            self._open = False
            _places.release()
