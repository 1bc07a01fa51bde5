"""Follow something at the league until it is over: one line, rewritten in a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from bots_sdk.invoking import typed

POLL_SECONDS = 1.0
LINE_EVERY_SECONDS = 30.0
"""Without a terminal, a line is printed when there is something new, and at least so often."""
_Found = TypeVar("_Found")


@contextmanager
def _noting_ctrl_c(text: str) -> Iterator[None]:
    """Print a text, unless it is empty, if Ctrl-C ends the context."""
    try:
        yield
    except KeyboardInterrupt:
        if text:
            print(typed(text), file=sys.stderr)
        raise


def follow(
    look: Callable[[], _Found],
    line_of: Callable[[_Found], str | None],
    *,
    news_of: Callable[[_Found], object] | None = None,
    printed: str = "",
    after_stop: str = "",
    quiet: bool = False,
) -> _Found:
    """Return what the league answers once it is over.

    In a terminal, standard error shows one line that changes. Elsewhere, and in a terminal that
    can't rewrite a line (``TERM=dumb``), it shows a new line for each change.

    Args:
        look: asks the league; called once a second.
        line_of: returns the line to show; None if it is over.
        news_of: returns a part of the answer; outside a terminal, a new line is printed when
            this part changes. Default: the line itself.
        printed: a text that the command has printed already; a line of it is not repeated.
        after_stop: what to print after Ctrl-C: what goes on at the league, and how to see it.
        quiet: whether to show nothing.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    console = Console(stderr=True, quiet=quiet, highlight=False)
    last: object = None
    said, printed_at = "", monotonic()
    with _noting_ctrl_c("" if quiet else after_stop), console.status("") as status:
        while True:
            found = look()
            line = line_of(found)
            if line is None:
                return found
            now = monotonic()
            if console.is_terminal and not console.is_dumb_terminal:
                status.update(Text(line))
            elif not quiet:
                news = news_of(found) if news_of else line
                is_old = news == last or line == said or line in printed
                if not is_old or now - printed_at >= LINE_EVERY_SECONDS:
                    again = f"still, after {LINE_EVERY_SECONDS:.0f} s: " if line == said else ""
                    print(f"{again}{line}", file=sys.stderr, flush=True)
                    said, printed_at = line, now
                last = news
            sleep(POLL_SECONDS)
