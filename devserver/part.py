"""A part of the league: a program to keep running, and how it starts, gets ready and ends."""

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devserver.processes import ends_with_us
from devserver.sleep import Work

STOP_SECONDS = 15.0


def _nothing() -> None:
    """Prepare nothing."""


def _long() -> float:
    """Return the time for an orderly end, with the work in hand."""
    return STOP_SECONDS


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A program to keep running.

    Attributes:
        name: prefix of each line of its output.
        command: the program and its arguments.
        before: words before the command, such as those that change the user.
        socket: link to the unix socket of the program that runs now. Each start listens on a new
            socket, whose path replaces this one in the command.
        prepare: called before each start, when no process of the last start is alive.
        is_ready: returns whether the program does its work; None if that can't be seen.
        log: file for the output; by default the supervisor prints it.
        stop_signal: ends the program.
        stop_seconds: returns the time that the program has for its end, before it is killed.
        orphan_signal: name of the signal that it receives if the supervisor is killed.
        forked: its program is a command of the loaded code, which the fork server runs.
        runs_once: the program ends by itself, with status 0 if it worked.
        work: without work for long, the part sleeps; None: it never does.
    """

    name: str
    command: Sequence[str | Path]
    before: Sequence[str] = ()
    socket: Path | None = None
    prepare: Callable[[], None] = _nothing
    is_ready: Callable[[], bool] | None = None
    log: Path | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: Callable[[], float] = _long
    orphan_signal: str = "KILL"
    forked: bool = False
    runs_once: bool = False
    work: Work | None = None

    def words(self, socket: Path | None = None) -> list[str]:
        """Return the whole command for a start that listens on a socket."""
        command = [socket if socket and word == self.socket else word for word in self.command]
        if self.forked:
            return [*map(str, command)]
        return [*self.before, *ends_with_us(self.orphan_signal), *map(str, command)]
