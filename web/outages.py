"""Pages while the league can't do their work: a 503 or a 429, without a traceback in the log.

The work fails if the database can't be reached, a file of the archive can't be read, or too many
passwords are tried.
"""

from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from league.accounts import BusyError, TooManyTriesError
from league.archive_files import ArchiveError

log = structlog.get_logger(__name__)


class OutageMiddleware:
    """Makes a 503 or a 429 of what views raise: lost connections, archive files, limits."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the response for such an error, None for any other error."""
        if isinstance(error, TooManyTriesError):
            context = {"minutes": -(-error.usage.reset_seconds // 60), "account": True}
            response = render(request, "429.html", context, status=429)
            for name, value in error.usage.headers.items():
                response[name] = value
            return response
        if isinstance(error, BusyError):
            return HttpResponse(
                "The league checks too many passwords at the moment. Try again in a second.\n",
                status=503,
                headers={"Retry-After": "1"},
                content_type="text/plain; charset=utf-8",
            )
        if isinstance(error, ArchiveError):
            log.error("an archive file can't be read", path=request.path, error=str(error))
            return render(request, "archive.html", {"error": str(error)}, status=503)
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        log.error(
            "the database can't be reached", path=request.path, error=" ".join(str(error).split())
        )
        # No context: the usual context processors would query the database again.
        return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": "2"})
