"""``verify --module``: computes the fuel of a WebAssembly bot in a finished match again."""

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots_sdk.arena.matches import CLOCK
from bots_sdk.bot_files import read_file
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.output import add_row, new_table, print_table
from bots_sdk.commands.progress import progress, time_left
from bots_sdk.commands.records import names_of
from bots_sdk.verifying import Check
from bots_sdk.wasm.binary import is_module
from bots_sdk.wasm.bot import ModuleFile
from bots_sdk.wasm.machine import FUEL_PER_SECOND
from bots_sdk.wasm.proving import MoveFuel, decisions_again
from engine.errors import RecordError, quote
from engine.games.titles import counted
from engine.record import Record
from engine.referee import TimeControl

_CLOCK = re.compile(r"\s*(\d+(?:\.\d+)?)\s*\+\s*(\d+(?:\.\d+)?)\s*", re.ASCII)
_MAX_SECONDS = 86_400
_SEARCH_SECONDS = 20.0
"""The time to search for a start of the bot's process that explains a difference."""
_MAY_RESTART = (
    "At a table with remote bots or people, the league may start a bot's process again, with a "
    "full bank and empty memory, and a record does not show this"
)
_VERSION = re.compile(r" v\d+")
"""The end of a player's name in a match of two versions of one bot."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a match.

    Attributes:
        control: the time control.
        source: where it comes from: ``match``, ``option`` or ``default``.
    """

    control: TimeControl
    source: str

    def __str__(self) -> str:
        return f"{self.control.move_seconds:g}+{self.control.bank_seconds:g}"


@dataclass(frozen=True, slots=True)
class Proof:
    """The fuel of a bot's moves, up to the first one that differs from the record.

    Attributes:
        seat: the seat.
        name: the name of its player in the record.
        clock: the clock of the match.
        moves: the moves that the module made as in the record.
        difference: the first one that it did not; None without one.
        table: whether remote bots or people were at the table: ``live``, ``hosted`` or
            ``unknown``. At a live table the league may start a bot's process again.
    """

    seat: int
    name: str
    clock: Clock
    moves: tuple[MoveFuel, ...]
    difference: RecordError | None
    table: str = "unknown"

    def check(self, file: Path, version: int | None) -> Check:
        """Return the verdict.

        Args:
            file: the module's file.
            version: the number of the bot's version that played; None if it is unknown.
        """
        if self.difference:
            remedy = f"If {file} did not play in seat {self.seat}, give the file that did"
            if version is not None:
                remedy += f": version {version} of {self.name}"
            if self.clock.source != "match":
                remedy += f". If the clock of the match was not {self.clock}, give it with --clock"
            if self.table != "hosted":
                remedy += f". {_MAY_RESTART}"
            return Check("fuel", False, f"not proven: {self.difference}. {remedy}.")
        if ply := next((each.ply for each in self.moves if each.restarted), None):
            return Check(
                "fuel",
                False,
                f"not proven, and not refuted: {file} makes the decisions of seat {self.seat} as "
                f"in the record only if its process started again before ply {ply}. "
                f"{_MAY_RESTART}.",
            )
        faults = sum(each.fault is not None for each in self.moves)
        same = f", {counted(faults, 'fault')} among them" if faults else ""
        used = sum(each.fuel for each in self.moves)
        return Check(
            "fuel",
            True,
            f"proven: {file} makes the {counted(len(self.moves), 'decision')} of seat {self.seat} "
            f"as in the record{same}: {used:,} units",
        )

    def as_json(self) -> dict[str, Any]:
        """Return the proof as JSON data."""
        return {
            "seat": self.seat,
            "player": self.name,
            "move_seconds": self.clock.control.move_seconds,
            "bank_seconds": self.clock.control.bank_seconds,
            "clock_from": self.clock.source,
            "moves": [each._asdict() for each in self.moves],
        }

    def show(self) -> None:
        """Print the fuel of each move."""
        sources = {
            "match": "the league's for this match",
            "option": "from --clock",
            "default": "the usual one; --clock sets another",
        }
        print(f"\nSeat {self.seat}, {self.name}, with the clock {self.clock}")
        print(f"({sources[self.clock.source]}); 1 s is {FUEL_PER_SECOND:,} units of fuel.")
        if self.moves:
            self._show_moves()
        print()

    def _show_moves(self) -> None:
        table = new_table("ply", "move", "fuel used", "bank left", "fault")
        for each in self.moves:
            bank = f"{each.bank_seconds:.3f} s"
            add_row(table, each.ply, each.move, f"{each.fuel:,}", bank, each.fault)
        for column in table.columns[2:4]:
            column.justify = "right"
        print_table(table)


def module_of(path: Path) -> ModuleFile:
    """Return the WebAssembly bot in a file.

    Raises:
        BotFileError: there is no such file, or it is not a bot, or Wasmtime is not installed.
        ImpossibleError: it is not WebAssembly.
    """
    data = read_file(path)
    if not is_module(data):
        raise ImpossibleError(
            f"{path} is not WebAssembly, and only the clock of a WebAssembly bot counts fuel. Give "
            "the .wasm file that played."
        )
    return ModuleFile(path, data)


def clock_of(text: str) -> Clock:
    """Return the clock of an option; the usual one without an option.

    Raises:
        ImpossibleError: it is not a clock.
    """
    if not text:
        return Clock(CLOCK, "default")
    found = _CLOCK.fullmatch(text)
    numbers = [float(each) for each in found.groups()] if found else []
    if not numbers or max(numbers) > _MAX_SECONDS:
        raise ImpossibleError(
            f"{quote(text)} is not a clock. Give the seconds of a move and of the bank, at most "
            f"{_MAX_SECONDS:,} each, such as --clock 1+30."
        )
    return Clock(TimeControl(*numbers), "option")


def seat_of(record: Record, file: Path, seat: int | None) -> int:
    """Return a bot's seat: the given one, or the only seat with the name of the bot's file.

    Raises:
        ImpossibleError: there is no such seat, or no or several seats have the name.
    """
    names = names_of(record)
    seats = ", ".join(f"{number} ({name})" for number, name in enumerate(names))
    if seat is not None:
        if seat not in range(record.seats):
            raise ImpossibleError(f"The match has no seat {seat}. Choose one of {seats}.")
        return seat
    name = _plain(file.name)
    alike = [number for number, each in enumerate(names) if _plain(each) == name]
    if len(alike) == 1:
        return alike[0]
    why = "Several seats have" if alike else "No seat has"
    raise ImpossibleError(
        f"{why} the name of {file}. Give the seat in which it played with --seat: {seats}."
    )


def _plain(name: str) -> str:
    """Return the name of a bot or its file without directory, ending, version and case."""
    return Path(_VERSION.sub("", name)).stem.replace("_", "-").lower()


def prove(
    record: Record,
    seat: int,
    bot: ModuleFile,
    clock: Clock,
    *,
    table: str = "unknown",
    quiet: bool,
) -> Proof:
    """Let a module make its moves in a match again.

    Args:
        record: the record of the match; `engine.record.verify` accepts it.
        seat: the bot's seat.
        bot: the bot.
        clock: the clock of the match.
        table: see `Proof`.
        quiet: whether to show no progress.
    """
    moves: list[MoveFuel] = []
    difference = None
    began = time.monotonic()

    def status() -> str:
        at, total = (moves[-1].ply + 1 if moves else 0), len(record.moves)
        return f"{at} of {total} moves are computed{time_left(at, total, began)}"

    with progress(status, quiet=quiet):
        try:
            for each in decisions_again(record, seat, bot.program, clock.control):
                moves.append(each)  # noqa: PERF402 - those before an error count
        except RecordError as error:
            difference = error
            if table == "live" and (found := _with_a_restart(record, seat, bot, clock, len(moves))):
                moves, difference = found, None
    return Proof(seat, names_of(record)[seat], clock, tuple(moves), difference, table)


def _with_a_restart(
    record: Record, seat: int, bot: ModuleFile, clock: Clock, same: int
) -> list[MoveFuel] | None:
    """Return the decisions as in the record if one new start of the process explains them.

    Args:
        record: the record of the match.
        seat: the bot's seat.
        bot: the bot.
        clock: the clock of the match.
        same: the number of first decisions that match the record without such a start.
    """
    until = time.monotonic() + _SEARCH_SECONDS
    for restart in range(same + 1, 1, -1):
        if time.monotonic() > until:
            return None
        with suppress(RecordError):
            again = decisions_again(record, seat, bot.program, clock.control, restart=restart)
            return list(again)
    return None
