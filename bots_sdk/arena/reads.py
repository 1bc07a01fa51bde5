"""Notes which files beside the bots a process reads, and whether they change afterwards.

Each match runs the modules beside a bot again, and many bots load weights when a match begins. So
a file that somebody edits meanwhile gives later matches another bot.
"""

import os
import sys
from collections.abc import Iterable
from importlib.util import source_from_cache
from pathlib import Path

_Stamp = tuple[int, int]
"""Time of the last change in nanoseconds, and size in bytes."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Reads:
    """The files that this process has read in the bots' directories, and below them.

    Python offers no way to remove its hook: create one instance in a process.
    """

    def __init__(self, bots: Iterable[Path]) -> None:
        """Begin to note what is read.

        Args:
            bots: the bots' files. They are compiled once, so a change in them has no effect,
                except on a bot that imports the file of another one.
        """
        self._bots = {str(path) for path in bots}
        self._places = tuple({f"{os.path.dirname(path)}{os.sep}" for path in self._bots})  # noqa: PTH120
        self._stamps: dict[str, _Stamp] = {}
        self._written: set[str] = set()
        if self._places:
            sys.addaudithook(self._note)

    def changed(self) -> tuple[str, ...]:
        """Return the files that have changed since they were first read.

        A file that the bots write themselves is not one: each run changes it.
        """
        return tuple(
            file
            for file, stamp in self._stamps.items()
            if file not in self._written and _stamp(file) != stamp
        )

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        path, _, flags = arguments
        if not isinstance(path, str):
            return
        file = os.path.abspath(path)  # noqa: PTH100 - at each opening: fast
        if not file.startswith(self._places):
            return
        if isinstance(flags, int) and flags & _WRITING:
            self._written.add(file)
            return
        if file in self._bots and not _is_import():
            return
        if file.endswith(".pyc"):
            try:
                file = source_from_cache(file)
            except ValueError:
                return
        if file not in self._stamps and (stamp := _stamp(file)):
            self._stamps[file] = stamp


def _is_import() -> bool:
    """Return whether Python's import opens the file that the hook notes."""
    return "importlib" in sys._getframe(2).f_code.co_filename


def _stamp(file: str) -> _Stamp | None:
    """Return the stamp of a file; None if it is gone or no file."""
    try:
        found = os.stat(file)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
