"""Progress of long commands: one rewritten line in a terminal, separate lines elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from bots_sdk.durations import about

PrintLine = Callable[[str], None]
"""Prints a line above the progress."""

FIRST_SECONDS = 2.0
"""The time until the first line, where lines are not rewritten."""
_BETWEEN_SECONDS, _MAX_BETWEEN_SECONDS = 4.0, 30.0


@contextmanager
def progress(
    line: Callable[[], str | Text], *, quiet: bool = False, results: Console | None = None
) -> Iterator[PrintLine]:
    """Show the progress on standard error while the context lasts.

    Args:
        line: returns the progress; another thread calls it. An empty text prints nothing.
        quiet: whether to show nothing, for commands that print JSON.
        results: the console of a command that prints results meanwhile. If it is a terminal, the
            progress is shown there, below the results.

    Yields:
        A function that prints a line to standard error, above the progress.
    """
    # Keep this stream: a match in this process replaces sys.stderr, to take its bots' output.
    stream = sys.stderr
    console = Console(file=stream, highlight=False, soft_wrap=True)
    if results is not None and results.is_terminal:
        console = results
    if quiet:
        yield lambda text: None
    elif console.is_terminal and not console.is_dumb_terminal:
        with Live(
            console=console,
            get_renderable=lambda: _cut(line(), console.width),
            transient=True,
            refresh_per_second=4,
        ):
            yield lambda text: console.print(text, markup=False)
    else:
        ended = threading.Event()
        thread = threading.Thread(target=_print_lines, args=(line, ended, stream), daemon=True)
        thread.start()
        try:
            yield lambda text: print(text, file=stream, flush=True)
        finally:
            ended.set()
            thread.join()


def time_left(done: int, total: int, began: float) -> str:
    """Return the estimated time left as a part of a sentence; empty before the first result.

    Args:
        done: the number of results.
        total: the number of results at the end.
        began: the start, by `time.monotonic`.
    """
    if not done:
        return ""
    seconds = (time.monotonic() - began) * (total - done) / done
    return f"; {about(seconds)} left"


def _cut(line: str | Text, width: int) -> Text:
    """Return a line that fits into a terminal: a wrapped line can't be rewritten cleanly."""
    text = line.copy() if isinstance(line, Text) else Text(line)
    text.truncate(max(10, width - 1), overflow="ellipsis")
    return text


def _print_lines(line: Callable[[], str | Text], ended: threading.Event, stream: TextIO) -> None:
    """Print the progress at growing intervals until an event."""
    wait = FIRST_SECONDS
    between = _BETWEEN_SECONDS
    while not ended.wait(wait):
        text = line()
        if text:
            # One write: lines of other threads must not end up in the middle of this one.
            stream.write(f"{text if isinstance(text, str) else text.plain}\n")
            stream.flush()
        wait, between = between, min(1.5 * between, _MAX_BETWEEN_SECONDS)
