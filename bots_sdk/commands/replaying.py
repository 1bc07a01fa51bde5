"""``try --replay`` and ``watch``: step through a match in the terminal."""

import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from bots_sdk.arena.matches import PlayedMatch, limit_time, play_fixture, players_of
from bots_sdk.arena.replay import frames
from bots_sdk.arena.trials import Trial
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.help_pages import Command
from engine.record import write

_NEXT = {"\r", "\n", " ", "n", "l", "\x1b[C", "\x1b[B", "\xe0M", "\xe0P"}
_BACK = {"p", "b", "h", "\x7f", "\x1b[D", "\x1b[A", "\xe0K", "\xe0H"}
_QUIT = {"q", "Q", "\x1b", "\x04", ""}


def replay_match(trial: Trial, number: int, seed: str, *, show_all: bool, as_json: bool) -> None:
    """Play one match of a trial, and show it step by step.

    Raises:
        ImpossibleError: the trial has no such match, or there is no terminal.
        BotFileError: a contestant's file is not a bot.
        KeyboardInterrupt: Ctrl-C.
    """
    if number > trial.matches:
        raise ImpossibleError(
            f"There is no match {number}: the run has {trial.matches} matches. "
            "Use a smaller number, or raise --blocks."
        )
    if not (show_all or as_json or (sys.stdin.isatty() and sys.stdout.isatty())):
        raise ImpossibleError(
            "--replay shows one step at a time, so it needs a terminal. "
            "To print all steps, add --all."
        )
    limit_time()
    names = [each.name for each in trial.contestants]
    played = play_fixture(players_of(trial.contestants), trial.table, trial.fixture(number), names)
    if as_json:
        print(write(played.record))
    else:
        show_steps(steps_of(played, f"match {number} of --seed {seed}"), show_all=show_all)


def steps_of(played: PlayedMatch, title: str) -> list[str]:
    """Return the steps of a match, with a star at the seat of the first bot."""
    reasons = {fault.ply: f"{fault.kind}: {fault.reason}" for fault in played.faults}
    return list(frames(played.record, title, played.fixture.seating.index(0), reasons))


def show_steps(steps: list[str], *, show_all: bool) -> None:
    """Print all steps, or show them one by one at the terminal."""
    if not show_all:
        _step_through(steps)
        return
    for step in steps:
        print(f"{step}\n")


def _step_through(steps: list[str]) -> None:
    console = Console(highlight=False)
    at = 0
    while True:
        console.clear()
        console.print(Text(steps[at]))
        console.print(
            Text(f"\nstep {at + 1} of {len(steps)}   Enter or → next, ← back, q quit", "dim")
        )
        key = read_key()
        if key in _QUIT:
            return
        if key in _BACK:
            at = max(0, at - 1)
        elif key in _NEXT:
            if at == len(steps) - 1:
                return
            at += 1


def read_key() -> str:
    """Return the next key, an arrow with its whole sequence; empty at the end of input.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    # Imported here, because each platform lacks the other's modules.
    if sys.platform == "win32":
        import msvcrt

        key = msvcrt.getwch()
        if key == "\x03":
            raise KeyboardInterrupt
        return f"\xe0{msvcrt.getwch()}" if key in "\x00\xe0" else key
    import select
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)  # keeps the keys pressed before
        key = os.read(descriptor, 1)
        if key == b"\x1b" and select.select([descriptor], [], [], 0.05)[0]:
            key += os.read(descriptor, 2)
        return key.decode("utf-8", "replace")
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


class BareReplay(Command):
    """A command in which ``--replay`` without a number stands for match 1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the missing number."""
        for at in range(len(args) - 1, -1, -1):
            if args[at] == "--replay" and not _is_number(args[at + 1 : at + 2]):
                args.insert(at + 1, "1")
        return super().parse_args(ctx, args)


def _is_number(words: list[str]) -> bool:
    return bool(words) and words[0].removeprefix("-").isdigit()
