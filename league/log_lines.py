"""Lines of programs that do not log through Django's settings, in the form of the log.

The parent process of granian never loads Django, and a worker of Celery writes its last lines to
standard output. This module imports only the standard library, so granian's parent stays small.
"""

import json
import logging
import os
import sys
import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import Any


def line_of(message: str, *, level: str, logger: str, at: float | None = None, **more: str) -> str:
    """Return a line as `config.logging` writes it, in the format of ``LOG_FORMAT``.

    Args:
        message: the text; a line break stays inside the line.
        level: such as ``warning``.
        logger: the name of the program's logger.
        at: the time in seconds since 1970; None: now.
        more: further values of a JSON line.
    """
    time = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if in_json():
        values = {"message": message, "level": level, "logger": logger, "timestamp": stamp}
        return json.dumps({**values, **more}, ensure_ascii=False)
    text = "\n".join([message.replace("\n", "\\n"), *more.values()])
    return f"{stamp} [{level}] {text} [{logger}]"


def in_json() -> bool:
    """Return whether lines are JSON, by ``LOG_FORMAT``."""
    return os.environ.get("LOG_FORMAT") == "json"


class LineFormatter(logging.Formatter):
    """The formatter of granian's own lines; ``config/granian.json`` names it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        more = {"exception": self.formatException(record.exc_info)} if record.exc_info else {}
        return line_of(
            record.getMessage(),
            level=record.levelname.lower(),
            logger=record.name.strip("_"),
            at=record.created,
            **more,
        )


def say(message: str, _: object = None) -> None:
    """Write a line of Celery to standard error; it replaces Celery's function for signal handlers.

    It writes in one call, since a handler may interrupt another line.
    """
    line = line_of(message.strip(), level="info", logger="celery.worker")
    os.write(2, f"{line}\n".encode())


def catch_the_rest() -> None:
    """Log warnings and uncaught errors, if lines are JSON and standard error is no terminal.

    Python would write them in several lines that are no JSON.
    """
    if not in_json() or sys.stderr.isatty():
        return
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_error
    threading.excepthook = _log_error_of_thread


def _log_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logging.getLogger("league").critical("an error ends the program", exc_info=(kind, error, trace))


def _log_error_of_thread(args: Any) -> None:
    if issubclass(args.exc_type, SystemExit):
        return
    found = (args.exc_type, args.exc_value, args.exc_traceback)
    logging.getLogger("league").error("an error ends a thread", exc_info=found)
