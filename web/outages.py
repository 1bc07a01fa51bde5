"""While the database is away pages say so, in one line of the log instead of a traceback each."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

log = logging.getLogger(__name__)


class OutageMiddleware:
    """Turns lost connections into 503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer for a view that lost its connection; any other error goes its way."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        log.error("%s: the database is away: %s", request.path, " ".join(str(error).split()))
        # Without a context: those that templates usually get would ask the database again.
        return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": "2"})
