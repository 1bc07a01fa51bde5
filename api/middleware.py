"""What happens around every request: its id, the bounds of its body, and errors as problems."""

import logging
import re
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from api.problems import CONTENT_TYPE, code_for_status, problem_response
from api.request_ids import HEADER, choose_request_id, set_request_id
from bots_sdk.sandbox.sources import MAX_BYTES

PREFIX = "/api/"
MAX_BODY_BYTES = 64 * 1024
"""Bytes."""
MAX_UPLOAD_BYTES = MAX_BYTES + MAX_BODY_BYTES
"""Bytes of the body of an upload: the file, and what the form adds to it."""
_UPLOADS = re.compile(r"/versions/?\Z")
MAX_READ_BYTES = 2_000_000
"""Bytes of a body that is too long, but read all the same; the front passes on no longer ones."""

_QUIET = ("/static/", "/healthz", "/readyz", "/metrics")
"""What is asked for all the time and by machines: logged at level DEBUG."""

log = logging.getLogger("api.requests")
Next = Callable[[HttpRequest], HttpResponseBase]


class RequestIdMiddleware:
    """Gives each request an id, for pages too, and the log a line with it. Put it first."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with the id in a header."""
        began = time.monotonic()
        request_id = choose_request_id(request.headers.get(HEADER))
        set_request_id(request_id)
        response = self.get_response(request)
        response[HEADER] = request_id
        took = (time.monotonic() - began) * 1000
        level = logging.DEBUG if request.path_info.startswith(_QUIET) else logging.INFO
        log.log(
            level, "%s %r %d in %.0f ms", request.method, request.path, response.status_code, took
        )
        return response


class ApiMiddleware:
    """Under `PREFIX`: no long bodies, and no error that isn't a problem."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, or refuse to."""
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        if request.encoding:
            # JSON is UTF-8 (RFC 8259), and a query string of ours too, whatever the header says.
            request.encoding = "utf-8"
        response = self._refuse_body(request) or self.get_response(request)
        if response.status_code >= 400 and response.get("Content-Type") != CONTENT_TYPE:
            kept = {
                name: response[name]
                for name in ("Allow", "Retry-After", "WWW-Authenticate")
                if response.has_header(name)
            }
            code = code_for_status(response.status_code)
            response = problem_response(code, status=response.status_code, headers=kept)
        if usage := getattr(request, "rate_limit", None):
            for name, value in usage.headers.items():
                response[name] = value
        return response

    def _refuse_body(self, request: HttpRequest) -> HttpResponseBase | None:
        """Answer a body that is too long, or of unknown length, before anybody reads it."""
        length = request.META.get("CONTENT_LENGTH") or ""
        if not length and "HTTP_TRANSFER_ENCODING" in request.META:
            request.META["wsgi.input"].read(MAX_READ_BYTES)  # as below
            return problem_response("length-required")
        most = MAX_UPLOAD_BYTES if _UPLOADS.search(request.path_info) else MAX_BODY_BYTES
        if length.isdecimal() and int(length[:20]) > most:
            if int(length[:20]) <= MAX_READ_BYTES:
                # Else the front may still be sending it when this end is closed, and call it a
                # lost connection instead of passing on the answer.
                request.read()
            detail = f"The body has {length[:20]} bytes; this call takes {most} at most."
            return problem_response("body-too-large", detail)
        return None
