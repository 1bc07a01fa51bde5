"""Exceptions of the API's views as problems: DRF's exception handler."""

from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as ModelValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, JsonResponse
from rest_framework import exceptions

from api.problems import (
    CODES,
    BotMovedError,
    ProblemError,
    busy,
    method_not_allowed,
    problem_response,
    too_many_tries,
    unavailable,
)
from league.accounts import BusyError, TooManyTriesError
from league.archive_files import ArchiveError

log = structlog.get_logger(__name__)

_BY_TYPE: list[tuple[type[Exception], str]] = [
    (exceptions.ParseError, "invalid-json"),
    (exceptions.AuthenticationFailed, "invalid-token"),
    (exceptions.NotAuthenticated, "not-authenticated"),
    (exceptions.PermissionDenied, "not-allowed"),
    (exceptions.NotFound, "not-found"),
    (exceptions.MethodNotAllowed, "method-not-allowed"),
    (exceptions.NotAcceptable, "not-acceptable"),
    (exceptions.UnsupportedMediaType, "unsupported-media-type"),
    (exceptions.Throttled, "too-many-requests"),
    (Http404, "not-found"),
    (PermissionDenied, "not-allowed"),
    (RequestDataTooBig, "body-too-large"),
    (SuspiciousOperation, "bad-request"),
]
_OWN_WORDS = (
    exceptions.ParseError,
    exceptions.AuthenticationFailed,
    exceptions.UnsupportedMediaType,
    exceptions.Throttled,
)
"""Exceptions whose message adds to the code's title: what is wrong with this request."""

_MEMBERS = ("version",)
"""Parameters of a rule's error that its problem has as members."""


def handle(error: Exception, context: dict[str, Any]) -> JsonResponse:
    """Return the problem for an exception of a view; log it if it is a failure of the server."""
    if isinstance(error, BotMovedError):
        address = error.new_address(context["request"].get_full_path())
        return JsonResponse({"detail": str(error)}, status=308, headers={"Location": address})
    found = as_problem(error)
    if found.code == "method-not-allowed":
        found.detail = method_not_allowed(
            context["request"].method, context["view"].allowed_methods
        )
    if found.status >= HTTPStatus.INTERNAL_SERVER_ERROR and found.code != "busy":
        log.error("the request failed", code=found.code, exc_info=error)
    return problem_response(found.code, found.detail, headers=found.headers, **found.members)


def from_validation(error: ModelValidationError) -> ProblemError:
    """Return the problem for input that a rule of the league refused.

    If the error carries one of `CODES`, it is that problem; otherwise the input is invalid.
    """
    if not hasattr(error, "error_dict"):
        first = error.error_list[0]
        if first.code in CODES:
            params = dict(first.params or {})
            seconds = params.get("retry_seconds")
            headers = {"Retry-After": str(seconds)} if seconds else {}
            members = {name: params[name] for name in _MEMBERS if name in params}
            return ProblemError(
                str(first.code), " ".join(error.messages), headers=headers, **members
            )
        return ProblemError("invalid", errors={"non_field_errors": error.messages})
    return ProblemError("invalid", errors=error.message_dict)


def as_problem(error: Exception) -> ProblemError:
    """Return the problem for an exception of a call."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, ModelValidationError):
        return from_validation(error)
    if isinstance(error, exceptions.ValidationError):
        errors = error.detail if isinstance(error.detail, dict) else {"": error.detail}
        return ProblemError("invalid", errors=errors)
    if isinstance(error, OperationalError | InterfaceError):
        return unavailable()
    if isinstance(error, ArchiveError):
        return ProblemError("unavailable", f"{str(error)[:1].upper()}{str(error)[1:]}")
    if isinstance(error, TooManyTriesError):
        return too_many_tries(error)
    if isinstance(error, BusyError):
        return busy()
    code = next((code for kind, code in _BY_TYPE if isinstance(error, kind)), "internal-error")
    detail = str(error) if isinstance(error, _OWN_WORDS) else ""
    if isinstance(error, exceptions.UnsupportedMediaType):
        detail += (
            " Send JSON with the header Content-Type: application/json, or the file of an upload "
            "as multipart/form-data."
        )
    return ProblemError(code, detail, headers=_headers_of(error))


def _headers_of(error: Exception) -> dict[str, str]:
    """Return the headers that DRF or Django gave an exception."""
    headers = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if seconds := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(seconds))
    return headers
