"""Whether PostgreSQL refused a change of this process a moment ago, as it does on a full disk.

Reads go on then, and so do some changes: those that find room in their page. So a read does not
show it. While bots' calls are refused, the door of these calls does not work, and the clock gives
the time back.
"""

import time

from django.db import DatabaseError, OperationalError

_REMEMBERED_SECONDS = 5.0
"""Longer than the Retry-After of a refused call: the same bot calls again before it is over."""
_CLASSES = ("53", "58")
"""Classes of SQLSTATE: too little disk, memory or connections, and errors of the system."""


class RefusedWrites:
    """The last refusal."""

    def __init__(self) -> None:
        self._last: tuple[float, DatabaseError] | None = None

    def note(self, error: DatabaseError) -> None:
        """Note an error of a call if PostgreSQL had no room or an internal fault."""
        sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
        if isinstance(error, OperationalError) and sqlstate.startswith(_CLASSES):
            self._last = time.monotonic(), error

    def check(self) -> None:
        """Raise the last refusal, if it was a moment ago."""
        if self._last and time.monotonic() - self._last[0] < _REMEMBERED_SECONDS:
            raise self._last[1]


refused_writes = RefusedWrites()
"""Those of this process."""
