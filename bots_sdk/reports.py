"""What the runner tells whoever watches it: lines above a status line, or JSON lines."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text


class Report(Protocol):
    """Is told what happened: its kind, a sentence (empty: nothing for people), and facts."""

    def __call__(self, event: str, text: str, /, **facts: Any) -> None:
        """Tell."""


@dataclass(slots=True)
class Tally:
    """Where a runner stands.

    Attributes:
        matches: in play.
        turns: in hand: being thought of, or under way.
        moves: that the league accepted.
        faults: of the bot: first legal moves played in its stead.
        lost: turns that ran out of time all the same.
        finished: matches seen to be over.
        seconds: spent thinking, all moves together.
        away: why the league does not answer; empty while it does.
    """

    matches: int = 0
    turns: int = 0
    moves: int = 0
    faults: int = 0
    lost: int = 0
    finished: int = 0
    seconds: float = 0.0
    thoughts: int = 0
    away: str = ""

    def note_thought(self, seconds: float) -> None:
        """Count the time of a move."""
        self.seconds += seconds
        self.thoughts += 1

    def line(self) -> Text:
        """Return the status line."""
        parts = [
            f"{self.matches} in play",
            f"{self.finished} finished",
            f"{self.moves} moves",
        ]
        if self.thoughts:
            parts.append(f"{1000 * self.seconds / self.thoughts:.1f} ms a move")
        line = Text(" | ".join(parts), "bold")
        if self.faults:
            line.append(f" | {self.faults} faults", "bold red")
        if self.lost:
            line.append(f" | {self.lost} out of time", "bold red")
        if self.away:
            line.append(" | the league does not answer", "bold yellow")
        return line


_STYLES = {
    "away": "yellow",
    "connected": "green",
    "fault": "red",
    "finished": "bold",
    "refused": "yellow",
    "warning": "yellow",
}

Show = Callable[[Tally], None]
"""Is given the tally to show from now on."""


@contextmanager
def reporting(*, as_json: bool) -> Iterator[tuple[Report, Show]]:
    """Give what to tell events to, and what to show a tally with.

    Args:
        as_json: print an object a line. What a bot prints goes to standard error then.
    """
    if as_json:
        with os.fdopen(os.dup(sys.stdout.fileno()), "w") as out, redirect_stdout(sys.stderr):
            yield _json_report(out), lambda tally: None
        return
    console = Console(highlight=False, soft_wrap=True)
    shown = Tally()

    def report(event: str, text: str, /, **facts: Any) -> None:
        if text:
            at = datetime.now().strftime("%H:%M:%S")
            console.print(Text(f"{at} "), Text(text, _STYLES.get(event, "")), sep="")

    def show(tally: Tally) -> None:
        nonlocal shown
        shown = tally

    if not console.is_terminal:
        yield report, show
        return
    status = Live(console=console, get_renderable=lambda: shown.line(), transient=True)
    with status:
        yield report, show


def _json_report(out: Any) -> Report:
    def report(event: str, text: str, /, **facts: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = {"text": text} if text else {}
        print(json.dumps({"event": event, "time": at, **said, **facts}), file=out, flush=True)

    return report
