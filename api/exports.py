"""Files that are long in the sending: few at a time, so that everybody else is answered too."""

from collections.abc import Iterator
from threading import BoundedSemaphore

from league.models import Ladder
from league.ratings.exporting import export_ladder

MAX_AT_ONCE = 2
"""Of each process; a web server answers four requests at a time."""
_WAIT = 30

_places = BoundedSemaphore(MAX_AT_ONCE)


class BusyError(Exception):
    """As many are being sent as may be; ``wait`` seconds, then try again."""

    wait = _WAIT


class Export(Iterator[bytes]):
    """A ladder's file, piece by piece; holds one of the few places until it is closed.

    Whatever becomes of the request, Django closes it.
    """

    def __init__(self, ladder: Ladder) -> None:
        if not _places.acquire(blocking=False):
            raise BusyError(f"{MAX_AT_ONCE} exports are being sent already.")
        self._open = True
        self._pieces = export_ladder(ladder)

    def __next__(self) -> bytes:
        """Return the next piece."""
        return next(self._pieces)

    def close(self) -> None:
        """Give the place to the next who asks."""
        if self._open:
            self._open = False
            _places.release()
