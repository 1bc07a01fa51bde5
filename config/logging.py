"""Logging through structlog: one configuration for web, gateway, workers, beat and commands.

Each line has a time, a level, a logger and a message, then the ids that are bound where the line
is logged (request, task, match, bot) and the values of the event. Lines of libraries that use the
standard library's logging get the same form.
"""

import logging
from contextlib import nullcontext
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from config.outage_log import OutageFilter

_COMMON: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

_render_any_line = structlog.dev.ConsoleRenderer(
    colors=False,
    pad_event_to=0,
    pad_level=False,
    sort_keys=False,
    # A line break in a path or an error must not begin a line of the log.
    repr_native_str=True,
    exception_formatter=structlog.dev.plain_traceback,
)
_PLAIN = ("debug", "info")
"""Methods of a logger whose lines no filter leaves out and no report contains."""
_RARE = {"exc_info", "exception", "stack", "stack_info"}
"""Keys of an event that takes more than one line."""


def render_line(logger: WrappedLogger, method: str, event: EventDict) -> str:
    """Return the line of an event as structlog's `ConsoleRenderer` does, in a tenth of its time.

    A move in a group costs less than that renderer's line for its request.
    """
    if not _RARE.isdisjoint(event) or not {"timestamp", "level", "event", "logger"} <= event.keys():
        return _render_any_line(logger, method, event)
    head = f"{event.pop('timestamp')} [{event.pop('level')}] {event.pop('event')}"
    parts = [head, f"[{event.pop('logger')}]"]
    return " ".join([*parts, *(f"{name}={value!r}" for name, value in event.items())])


_RENDERERS: dict[str, list[Processor]] = {
    "line": [render_line],
    "json": [
        structlog.processors.format_exc_info,
        structlog.processors.EventRenamer("message"),
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    ],
}


class Console(logging.StreamHandler[TextIO]):
    """The handler of the log.

    Args:
        log_format: one of `FORMATS`.
    """

    def __init__(self, log_format: str) -> None:
        super().__init__()
        self._renderers = _RENDERERS[log_format]

    def write(self, logger: logging.Logger, method: str, event: EventDict) -> None:
        """Write the line of an event without a record; an error is handled as that of a record."""
        line: Any = event
        try:
            for render in self._renderers:
                line = render(logger, method, line)
            with self.lock or nullcontext():
                self.stream.write(f"{line}{self.terminator}")
                self.flush()
        except Exception:
            self.handleError(logger.makeRecord(logger.name, logging.INFO, "", 0, line, (), None))


def write_plain(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Write an event below a warning at once and drop it; the last processor of such an event.

    The standard library's record, filters and formatter take as long as all other steps of a line.
    They are left to events that filters or other handlers may treat in their own way.
    """
    if method in _PLAIN and _RARE.isdisjoint(event) and _leads_to_root(logger):
        handlers = logging.root.handlers
        console = handlers[0] if handlers else None
        if isinstance(console, Console) and all(each.level > logging.INFO for each in handlers[1:]):
            console.write(logger, method, event)
            raise structlog.DropEvent
    return event


def _leads_to_root(logger: logging.Logger) -> bool:
    """Return whether only the handlers of the root get the records of a logger."""
    each: logging.Logger | None = logger
    while each is not None and each.parent is not None:
        if each.handlers or not each.propagate:
            return False
        each = each.parent
    return True


FORMATS: list[str] = list(_RENDERERS)
"""Values of ``LOG_FORMAT``: a line to read, or a JSON object a line to collect."""


def configure_structlog() -> None:
    """Pass the events of structlog's loggers on to the standard library's, which format them."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_COMMON,
            write_plain,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def django_logging(log_format: str, *, reports: bool = False) -> dict[str, Any]:
    """Return Django's ``LOGGING``.

    Args:
        log_format: one of `FORMATS`.
        reports: whether errors are also reported, by `league.error_reports`.
    """
    report = {
        "class": "league.error_reports.ErrorReportHandler",
        "filters": ["answered", "outages"],
    }
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _COMMON,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *_RENDERERS[log_format],
        ],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"structlog": formatter},
        "filters": {
            "outages": {"()": OutageFilter},
            "answered": {"()": "config.logging.AnsweredFilter"},
        },
        "handlers": {
            "console": {
                "()": "config.logging.Console",
                "log_format": log_format,
                "formatter": "structlog",
                "filters": ["answered", "outages"],
            },
            **({"reports": report} if reports else {}),
        },
        "root": {"handlers": ["console", *(["reports"] if reports else [])], "level": "INFO"},
        # `api.middleware` logs every request, so Django's own lines about a 4xx are not needed.
        # Those of `django.security` are errors with a traceback, and any client can cause them.
        "loggers": {
            "django.request": {"level": "ERROR"},
            "django.security": {"level": "CRITICAL"},
            # Before it loads the gateway, uvicorn gives its logger a handler of another form.
            "uvicorn": {"level": "WARNING", "handlers": [], "propagate": True},
        },
    }


class AnsweredFilter(logging.Filter):
    """Leaves out what another line or the answer shows: each 503, and the end of a worker process.

    A 503 is an answer that the league intends. Celery writes a line for a worker process that was
    killed, and a second line for the task, with a traceback of Celery's code.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a line."""
        error = record.exc_info[1] if record.exc_info else None
        if type(error).__name__ == "WorkerLostError":
            return False
        return not (record.name == "django.request" and getattr(record, "status_code", 0) == 503)
