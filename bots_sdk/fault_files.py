"""Files with the observations of a bot's faults, from which its author can write tests."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

_MAX_FILES = 100


class SavedFault(NamedTuple):
    """The file of a fault.

    Attributes:
        path: the path of the file; None if it was not written.
        note: a sentence about the file.
    """

    path: Path | None
    note: str


class FaultFiles:
    """A directory with a JSON file for each fault of a bot, 100 files at most."""

    def __init__(self, directory: Path, bot: Path) -> None:
        """Create nothing yet.

        Args:
            directory: the directory; the first fault creates it.
            bot: the bot's file, whose name begins the names of the fault files.
        """
        self._directory, self._bot = directory, bot
        self._left = _MAX_FILES
        self._saved: Counter[str] = Counter()

    def save(self, fault: dict[str, Any], where: str) -> SavedFault:
        """Write a fault to a file.

        Args:
            fault: JSON data about the fault.
            where: the match and ply of the fault, for the file's name.
        """
        if not self._left:
            return SavedFault(
                None,
                f"The bot's input is not saved, because this run has saved {_MAX_FILES} already.",
            )
        before = self._saved[where]  # a check plays one deal several times
        name = f"{self._bot.stem}-{where}{f'-{before + 1}' if before else ''}.json"
        path = self._directory / name
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"bot": str(self._bot), **fault}, indent=1) + "\n")
        except OSError as error:
            return SavedFault(None, f"{path} can't be written: {error.strerror}.")
        self._left -= 1
        self._saved[where] += 1
        return SavedFault(path, f"The bot's input is saved in {path}.")
