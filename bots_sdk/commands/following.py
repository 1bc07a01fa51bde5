"""Follow something at the league until it is over: one line, rewritten in a terminal."""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from rich.console import Console
from rich.text import Text

POLL_SECONDS = 1.0
LINE_EVERY_SECONDS = 30.0
"""Without a terminal, the line is printed when it changes, and at least so often."""
_Found = TypeVar("_Found")


def follow(
    look: Callable[[], _Found], line_of: Callable[[_Found], str | None], *, quiet: bool = False
) -> _Found:
    """Return what the league answers once it is over.

    In a terminal, standard error shows one line that changes. Elsewhere, each new line is printed
    there.

    Args:
        look: asks the league; called once a second.
        line_of: returns the line to show; None if it is over.
        quiet: whether to show nothing.
    """
    console = Console(stderr=True, quiet=quiet, highlight=False)
    last, printed_at = "", 0.0
    with console.status("") as status:
        while True:
            found = look()
            line = line_of(found)
            if line is None:
                return found
            now = time.monotonic()
            if console.is_terminal:
                status.update(Text(line))
            elif not quiet and (line != last or now - printed_at >= LINE_EVERY_SECONDS):
                print(line, file=sys.stderr, flush=True)
                last, printed_at = line, now
            time.sleep(POLL_SECONDS)
