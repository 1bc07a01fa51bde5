"""Middleware around every request: its id, a line in the log, limits of its body, problems."""

import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import structlog
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.http import ConditionalGetMiddleware
from django.urls import Resolver404, resolve
from django.utils.cache import set_response_etag
from structlog.contextvars import bind_contextvars, clear_contextvars

from api import headers
from api.problems import (
    CONTENT_TYPE,
    PREFIX,
    ProblemError,
    code_for_status,
    problem_response,
    slash_too_many,
)
from bots_sdk.sandbox.sources import MAX_BYTES
from league import durations, tracing

REQUEST_ID_HEADER = "X-Request-ID"
MAX_BODY_BYTES = 64 * 1024
MAX_UPLOAD_BYTES = MAX_BYTES + MAX_BODY_BYTES
"""The body of an upload: the file, and what the form adds to it."""
_CLOSE = {"Connection": "close"}
"""For an answer before the body was read: the rest of the body is no request."""

_UPLOAD_PATH = re.compile(r"/versions/?\Z")
_ID_CHARACTERS = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
_NO_CALL = "There is no call at this address. /api/v1/docs/ lists all calls."
_QUIET_PATHS = ("/static/", "/healthz", "/readyz", "/metrics")
"""Paths of frequent requests by machines, which are logged at level DEBUG."""

log = structlog.get_logger("api.requests")
Next = Callable[[HttpRequest], HttpResponseBase]


def begin_request(offered_id: str | None) -> str:
    """Bind the id of a request to all lines logged for it, and return it.

    Args:
        offered_id: the header of the client or of a proxy; an unfit one is replaced by a new id.
    """
    fits = offered_id and _ID_CHARACTERS.fullmatch(offered_id)
    # An id is no secret, and `secrets` asks the system for each one.
    request_id = offered_id if offered_id and fits else f"{random.getrandbits(96):024x}"
    clear_contextvars()
    bind_contextvars(request_id=request_id)
    return request_id


def is_quiet(path: str) -> bool:
    """Return whether requests of a path are logged at level DEBUG."""
    return path.startswith(_QUIET_PATHS)


def end_span(span: tracing.Span | None, method: str, path: str, route: str, status: int) -> None:
    """End the span of a request, if it has one."""
    if span is None:
        return
    span.name = f"{method} {route}".strip()
    span.failed = status >= 500
    values: dict[str, str | int] = {
        "http.request.method": method,
        "url.path": path,
        "http.route": route,
        "http.response.status_code": status,
    }
    tracing.end(span, **values)


class RequestIdMiddleware:
    """Gives each request and its response an id, and logs a line for it. Put it first."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response with the id in a header."""
        began = time.monotonic()
        request_id = begin_request(request.headers.get(REQUEST_ID_HEADER))
        is_traced = not is_quiet(request.path_info)
        parent = request.headers.get(tracing.TRACEPARENT, "")
        span = tracing.begin("", tracing.SERVER, parent) if is_traced else None
        response = self.get_response(request)
        response[REQUEST_ID_HEADER] = request_id
        seconds = time.monotonic() - began
        route = f"/{request.resolver_match.route}" if request.resolver_match else ""
        end_span(span, str(request.method), request.path, route, response.status_code)
        if not is_quiet(request.path_info):
            durations.note_request("web", route, response.status_code, seconds)
        write = log.debug if is_quiet(request.path_info) else log.info
        write(
            "request finished",
            method=request.method,
            path=request.path,
            status=response.status_code,
            milliseconds=round(seconds * 1000),
        )
        clear_contextvars()
        return response


class ApiMiddleware:
    """Under `PREFIX`: refuses long bodies, makes every error a problem, and completes reads.

    Reads get the headers of CORS and caching, are answered with 304 if the client has them, and are
    compressed if the client accepts it. Only reads are compressed: no answer to a read has a token.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        if request.encoding:
            # JSON is UTF-8 (RFC 8259), and so are our query strings. Ignore another charset.
            request.encoding = "utf-8"
        response = _refuse_early(request) or self.get_response(request)
        if response.status_code >= 400 and response.get("Content-Type") != CONTENT_TYPE:
            kept = {
                name: response[name]
                for name in ("Allow", "Retry-After", "WWW-Authenticate")
                if response.has_header(name)
            }
            code = code_for_status(response.status_code)
            detail = _no_call(request.path_info) if code == "not-found" else ""
            response = problem_response(code, detail, status=response.status_code, headers=kept)
        if usage := getattr(request, "rate_limit_usage", None):
            for name, value in usage.headers.items():
                response[name] = value
        if request.method in headers.READS:
            return _complete_read(request, response)
        if request.method == "OPTIONS":
            for name, value in headers.PREFLIGHT.items():
                response[name] = value
        response["Cache-Control"] = headers.SECRET
        return response


def _no_call(path: str) -> str:
    """Return the detail of the problem for an address without a call."""
    if path.endswith("/"):
        with suppress(Resolver404):
            resolve(path.rstrip("/"))
            return slash_too_many(path)
    return _NO_CALL


def _refuse_early(request: HttpRequest) -> HttpResponseBase | None:
    """Return the problem for an address that no object can have, or for a body before it is read.

    A body is refused if it is too long or of unknown length. The front has the same limits, so that
    this answer need not wait for the body.
    """
    if "\0" in request.path_info:  # PostgreSQL can't search for it
        return problem_response("not-found")
    is_upload = _UPLOAD_PATH.search(request.path_info)
    error = body_refusal(
        request.META.get("CONTENT_LENGTH") or "",
        is_chunked="HTTP_TRANSFER_ENCODING" in request.META,
        max_bytes=MAX_UPLOAD_BYTES if is_upload else MAX_BODY_BYTES,
    )
    return problem_response(error.code, error.detail, headers=error.headers) if error else None


def body_refusal(length: str, *, is_chunked: bool, max_bytes: int) -> ProblemError | None:
    """Return the problem for a body that is too long or of unknown length, None for any other.

    Args:
        length: the header ``Content-Length``, empty if there is none.
        is_chunked: whether there is a header ``Transfer-Encoding``.
        max_bytes: the longest body that the call takes.
    """
    if not length and is_chunked:
        return ProblemError("length-required", headers=_CLOSE)
    if length.isdecimal() and int(length[:20]) > max_bytes:
        detail = f"The body has {length[:20]} bytes; this call takes at most {max_bytes} bytes."
        return ProblemError("body-too-large", detail, headers=_CLOSE)
    return None


_gzip = GZipMiddleware(lambda request: StreamingHttpResponse())


def _complete_read(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return the response to a read with the headers of caching and CORS, or a 304."""
    if response.status_code != HTTPStatus.OK:
        response["Cache-Control"] = headers.SECRET
    elif not response.streaming and response.get("Cache-Control") != headers.SECRET:
        if isinstance(response, HttpResponse):
            set_response_etag(response)
        response = ConditionalGetMiddleware(lambda _: response).process_response(request, response)
    for name, value in headers.ALLOW_ORIGIN.items():
        response[name] = value
    return _gzip.process_response(request, response)
