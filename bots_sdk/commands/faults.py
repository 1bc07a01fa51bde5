"""Faults of a bot on your machine: printed with their tracebacks, and saved for tests."""

from collections.abc import Callable
from pathlib import Path

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.matches import FaultReport, PlayedMatch, info_for
from bots_sdk.commands.home import HomeSetup
from bots_sdk.fault_files import FaultFiles
from engine.errors import NO_TEXT
from engine.faults import FORFEITED, count_faults, fault_noun
from engine.games.titles import counted

_MAX_SHOWN = 3


class FaultPrinter:
    """Prints the first faults of a bot, and saves the observation of each fault.

    Attributes:
        saved: the paths of the saved faults.
        is_without_text: whether an answer was not a text, which no game accepts.
    """

    def __init__(
        self, bot: Contestant, setup: HomeSetup, directory: Path, *, as_json: bool
    ) -> None:
        """Create a printer; the first fault creates the directory.

        Args:
            bot: the bot.
            setup: the match type and the seed.
            directory: the directory for the files.
            as_json: whether to print nothing.
        """
        self._bot, self._setup = bot, setup
        self._files = FaultFiles(directory, bot.path or Path(bot.name))
        self._silent = as_json
        self._shown = 0
        self.saved: list[str] = []
        self.is_without_text = False

    def take(
        self, played: PlayedMatch, fault: FaultReport, print_line: Callable[[str], None]
    ) -> None:
        """Save a fault; print it if it is one of the first."""
        number = played.fixture.number
        self.is_without_text |= fault.reason.startswith(NO_TEXT)
        saved = self._files.save(
            {
                "match": number,
                "ply": fault.ply,
                "kind": fault.kind,
                "reason": fault.reason,
                "traceback": fault.traceback,
                "printed": fault.printed,
                "seed": self._setup.seed_text,
                "deal_seed": played.record.deal_seed.hex(),
                "info": info_for(self._setup.table, fault.seat),
                "observation": fault.observation,
            },
            f"match{number}-ply{fault.ply}",
        )
        if saved.path:
            self.saved.append(str(saved.path))
        if self._silent or self._shown >= _MAX_SHOWN:
            return
        self._shown += 1
        where = f"match {number}, move {fault.ply}, seat {fault.seat}"
        reason = fault.reason.removesuffix(".")
        print_line(f"{fault.traceback}{where}: {fault_noun(fault.kind)}: {reason}. {saved.note}")

    def show_end(self, faults: dict[str, int], forfeits: int) -> None:
        """Print the number of faults."""
        if not faults:
            print("faults       none: no crash, no illegal move, no timeout")
            return
        print(f"faults       {count_faults(faults)}")
        if forfeits:
            matches = counted(forfeits, "match")
            print(f"forfeits     {matches}: {FORFEITED}")

    def show_test(self) -> None:
        """Print a test that repeats the first saved fault, if there is one."""
        if self.saved:
            print()
            print(f"This test repeats the first saved fault of {self._bot.name}:")
            print()
            print(_test_of(self.saved[0], self._bot.name))


def _test_of(saved: str, bot: str) -> str:
    """Return a Python program that repeats a saved fault; it starts at the margin, to be pasted."""
    return f"""import json
from pathlib import Path

from bots_sdk.bot_files import load

fault = json.loads(Path({saved!r}).read_text())
move = load({bot!r})(fault["info"])(fault["observation"])
assert move in fault["observation"]["legal_moves"]"""
