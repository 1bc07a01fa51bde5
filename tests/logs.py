"""The events of the log during a test, with the ids bound where each was logged."""

from collections.abc import MutableMapping
from contextlib import AbstractContextManager
from typing import Any

import structlog


def captured() -> AbstractContextManager[list[MutableMapping[str, Any]]]:
    """Capture events of structlog's loggers: ``event``, ``logger``, ``log_level``, its values.

    An error's traceback is in ``exception``.
    """
    return structlog.testing.capture_logs(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_logger_name,
            structlog.processors.format_exc_info,
        ]
    )
