"""The id of the request being answered: in its response, and in every line it logs."""

import logging
import re
import secrets
from contextvars import ContextVar

HEADER = "X-Request-ID"

_SANE = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="-")


def choose_request_id(offered: str | None) -> str:
    """Return the id that a client or proxy offers if it is a sane one, else a new one."""
    return offered if offered and _SANE.fullmatch(offered) else secrets.token_hex(12)


def current_request_id() -> str:
    """Return the id of the request being answered here, or ``-``."""
    return _current.get()


def set_request_id(request_id: str) -> None:
    """Say which request is being answered here."""
    _current.set(request_id)


class RequestIdFilter(logging.Filter):
    """Gives every log record its ``request_id``."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id; let everything through."""
        record.request_id = current_request_id()
        return True
