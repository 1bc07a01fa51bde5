"""A progress line on standard error, for long runs at a terminal."""

import sys
import time
from types import TracebackType
from typing import Self

_QUIET_SECONDS = 1.0
_BETWEEN_SECONDS = 0.1
_BAR_WIDTH = 30


class Progress:
    """Counts and, if standard error is a terminal, shows the count after the first second."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Start counting.

        Args:
            what: plural noun for the counted things.
            total: expected count, if known.
        """
        self._what = what
        self._total = total
        self._done = 0
        # If results scroll by on the same terminal, they show the progress.
        self._silent = not sys.stderr.isatty() or sys.stdout.isatty()
        self._began = time.monotonic()
        self._due = self._began + _QUIET_SECONDS
        self._shown = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wipe()

    def advance(self) -> None:
        """Add one to the count."""
        self._done += 1
        if not self._silent and time.monotonic() >= self._due:
            self._show()

    def complain(self, line: str) -> None:
        """Print a reason to standard error."""
        self._wipe()
        print(line, file=sys.stderr)

    def _show(self) -> None:
        now = time.monotonic()
        rate = f"{self._done} {self._what}, {self._done / (now - self._began):.0f}/s"
        if self._total:
            filled = _BAR_WIDTH * self._done // self._total
            left = (now - self._began) * (self._total - self._done) / self._done
            rate = f"[{'#' * filled:{_BAR_WIDTH}}] {rate}, {left:.0f} s left"
        print(f"\r{rate:{self._shown}}", end="", file=sys.stderr, flush=True)
        self._shown = len(rate)
        self._due = now + _BETWEEN_SECONDS

    def _wipe(self) -> None:
        if self._shown:
            print(f"\r{'':{self._shown}}\r", end="", file=sys.stderr, flush=True)
            self._shown = 0
