"""What the terminal shows of the parts' output, and the file that keeps all of it."""

import json
import logging
import re
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

_ROUTINE = re.compile(r" \[(?:info|debug)\s*\] ")
_COLOUR = re.compile(r"\033\[\d*m")
_MAX_BYTES, _KEPT_FILES = 10_000_000, 2


class _Kept(RotatingFileHandler):
    """A file of lines that loses those that can't be written."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Lose a line. Logging would print a traceback for each one."""


class Output:
    """Prints the lines of parts. With a file, routine lines are only in the file.

    Requests and finished tasks are routine: in a terminal they would hide what matters.

    A line that can't be written, because the disk is full or the terminal is gone, is lost. The
    parts must run on: a part whose output nobody reads stops as soon as its pipe is full.

    Attributes:
        stops: whether the parts are being stopped. What they print then is only in the file.
    """

    def __init__(
        self, file: Path | None = None, *, verbose: bool = False, in_json: bool = False
    ) -> None:
        """Open the file.

        Args:
            file: keeps all lines, at most 30 MB in three files; None: all lines are printed.
            verbose: whether routine lines are printed too.
            in_json: whether each line is a JSON object, with the name of its part.
        """
        self.stops = False
        self._verbose, self._log = verbose or file is None, logging.Logger("parts")
        self._in_json = in_json
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            kept = _Kept(file, maxBytes=_MAX_BYTES, backupCount=_KEPT_FILES, encoding="utf-8")
            self._log.addHandler(kept)

    def take(self, prefix: str, line: str, *, routine: bool = False) -> None:
        """Take a line of a part.

        Args:
            prefix: the part's name, perhaps in colour.
            line: what the part wrote.
            routine: whether the line is routine, whatever it says.
        """
        if self._in_json:
            if not line:
                return
            values = _values(line, "info" if routine else "warning")
            routine |= values.get("level") in ("info", "debug")
            part = _COLOUR.sub("", prefix).strip(" |")
            values = {"part": part} | values | {"part": part}
            prefix, line = "", json.dumps(values, ensure_ascii=False)
        self._log.info("%s%s", _COLOUR.sub("", prefix), line)
        if self._verbose or not (routine or self.stops or _ROUTINE.search(line)):
            with suppress(OSError):
                print(prefix + line, flush=True)

    def close(self) -> None:
        """Close the file."""
        for handler in list(self._log.handlers):
            with suppress(OSError):
                handler.close()


def _values(line: str, level: str) -> dict[str, object]:
    """Return the values of a line that is a JSON object; any other line is a message of a level."""
    with suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {"message": line, "level": level}
