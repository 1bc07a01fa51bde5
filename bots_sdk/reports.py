"""The runner's output: lines of text above a status line, or JSON lines."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from engine.games.titles import counted


class Report(Protocol):
    """Receives an event: its kind, a sentence (empty if people need none), and facts."""

    def __call__(self, event: str, text: str, /, **facts: Any) -> None:
        """Report an event."""


@dataclass(slots=True)
class RunnerStatus:
    """The counts of a runner.

    Attributes:
        matches: matches in play.
        turns: turns in hand: the bot computes the move, or the move is under way.
        moves: moves that the league accepted.
        faults: faults of the bot, after which the runner played the first legal move.
        lost: turns that ran out of time.
        finished: finished matches.
        seconds: the computing time of all moves.
        computed: moves that the bot computed.
        outage: the reason why the league does not answer; empty while it answers.
    """

    matches: int = 0
    turns: int = 0
    moves: int = 0
    faults: int = 0
    lost: int = 0
    finished: int = 0
    seconds: float = 0.0
    computed: int = 0
    outage: str = ""

    def note_move(self, seconds: float) -> None:
        """Count a move and its computing time."""
        self.seconds += seconds
        self.computed += 1

    def line(self) -> Text:
        """Return the status line."""
        parts = [
            f"{self.matches} in play",
            f"{self.finished} finished",
            counted(self.moves, "move"),
        ]
        if self.computed:
            parts.append(f"{1000 * self.seconds / self.computed:.1f} ms per move")
        line = Text(" | ".join(parts), "bold")
        if self.faults:
            line.append(f" | {counted(self.faults, 'fault')}", "bold red")
        if self.lost:
            line.append(f" | {counted(self.lost, 'turn')} out of time", "bold red")
        if self.outage:
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

Show = Callable[[RunnerStatus], None]
"""Receives the status to show from now on."""


@contextmanager
def reporting(*, as_json: bool) -> Iterator[tuple[Report, Show]]:
    """Yield a function that reports an event, and a function that shows a status.

    Args:
        as_json: whether to print a JSON object for each event. The output of the bot then goes to
            standard error.
    """
    if as_json:
        with os.fdopen(os.dup(sys.stdout.fileno()), "w") as out, redirect_stdout(sys.stderr):
            yield _despite_output_errors(_json_report(out)), lambda status: None
        return
    console = Console(highlight=False, soft_wrap=True)
    shown = RunnerStatus()

    def report(event: str, text: str, /, **facts: Any) -> None:
        if text:
            at = datetime.now().strftime("%H:%M:%S")
            console.print(Text(f"{at} "), Text(text, _STYLES.get(event, "")), sep="")

    def show(status: RunnerStatus) -> None:
        nonlocal shown
        shown = status

    if not console.is_terminal:
        yield _despite_output_errors(report), show
        return
    status = Live(console=console, get_renderable=lambda: shown.line(), transient=True)
    with status:
        yield _despite_output_errors(report), show


def _despite_output_errors(report: Report) -> Report:
    """Return a report that survives an error of the output, and prints the first one."""
    is_noted = False

    def report_or_note(event: str, text: str, /, **facts: Any) -> None:
        nonlocal is_noted
        try:
            report(event, text, **facts)
        except BrokenPipeError:
            raise  # nobody reads the output any more
        except OSError as error:
            if not is_noted:
                is_noted = True
                note = f"The output can't be written: {error.strerror}. The bot plays on."
                with suppress(OSError):
                    print(note, file=sys.stderr)

    return report_or_note


def _json_report(out: Any) -> Report:
    def report(event: str, text: str, /, **facts: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        texts = {"text": text} if text else {}
        print(json.dumps({"event": event, "time": at, **texts, **facts}), file=out, flush=True)

    return report
