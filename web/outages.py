"""Pages while the database can't be reached: a 503, and one line of the log without traceback."""

from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

log = structlog.get_logger(__name__)


class OutageMiddleware:
    """Makes a lost connection of a view a 503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the 503 for a lost connection, None for any other error."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        log.error(
            "the database can't be reached", path=request.path, error=" ".join(str(error).split())
        )
        # No context: the usual context processors would query the database again.
        return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": "2"})
