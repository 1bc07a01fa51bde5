"""Problem details (RFC 9457): every error of the API, with a code that programs may rely on."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as ModelValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, JsonResponse
from rest_framework import exceptions

from api.request_ids import current_request_id

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
TYPES = "/api/v1/docs/#"
"""Where the docs page says what a code means: a problem's ``type`` is this and its code."""

CODES: dict[str, tuple[int, str]] = {
    "invalid": (400, "The input is not valid; errors says which fields and why."),
    "invalid-json": (400, "The body is not JSON."),
    "invalid-cursor": (400, "The cursor is none that this list has given out."),
    "bad-request": (400, "The request can't be understood."),
    "not-authenticated": (401, "This call needs a token."),
    "invalid-token": (401, "The token doesn't work: mistyped, revoked or replaced."),
    "wrong-credentials": (401, "No account has this name and password."),
    "owner-token-needed": (403, "This call needs an owner token."),
    "bot-token-needed": (403, "This call needs a bot token."),
    "organiser-needed": (403, "Only organisers may do this."),
    "not-your-bot": (403, "The bot belongs to somebody else."),
    "not-allowed": (403, "You may not do this."),
    "not-found": (404, "There is no such thing."),
    "method-not-allowed": (405, "The method is none of those in the Allow header."),
    "not-acceptable": (406, "The answer is JSON, and the Accept header has no room for that."),
    "entries-not-open": (409, "The tournament takes no entries now."),
    "bot-has-left": (409, "The bot has left this tournament and can't come back."),
    "no-version": (409, "The bot has no version that may play yet."),
    "not-qualified": (409, "The bot's current version did not qualify for this game."),
    "not-ready": (409, "The version is not ready to play."),
    "not-hosted": (409, "Only the versions of hosted bots can be compared here."),
    "comparison-running": (409, "Another comparison of this bot is running."),
    "too-few-opponents": (409, "The ladder has too few bots that could play now."),
    "too-many-uploads": (409, "Too many versions of yours are being checked."),
    "tournament-begun": (409, "The tournament has started or is over, so this can't change."),
    "too-many-matches": (409, "Too many unrated matches of yours are not finished yet."),
    "not-finished": (409, "The match is not finished, so it has no record yet."),
    "block-not-finished": (409, "Other matches of the same deal are still to be played."),
    "turn-already-decided": (409, "Another move was made in this turn."),
    "turn-not-open": (409, "This turn is not open."),
    "turn-expired": (409, "The deadline has passed; the referee played."),
    "length-required": (411, "A body needs a Content-Length."),
    "body-too-large": (413, "The body is longer than this call takes."),
    "unsupported-media-type": (
        415,
        "The body must be application/json, or multipart/form-data.",
    ),
    "illegal-move": (422, "The rules don't allow this move."),
    "too-many-requests": (429, "Too many requests; Retry-After says when to go on."),
    "internal-error": (500, "Something went wrong here; the log has it under the request's id."),
    "unavailable": (503, "The database can't be reached; try again soon."),
}
"""Every code, with its status and what it means in one line, which is the problem's title."""


class ProblemError(exceptions.APIException):
    """An answer that is a problem: one of `CODES`, what happened this time, and more members."""

    def __init__(self, code: str, detail: str = "", **members: Any) -> None:
        self.code = code
        self.status_code, title = CODES[code]
        self.members = members
        super().__init__(detail or title, code)


def problem(code: str, detail: str = "", status: int = 0, **members: Any) -> dict[str, Any]:
    """Return a problem document; members that are None are left out."""
    own, title = CODES[code]
    return {
        "type": TYPES + code,
        "code": code,
        "title": title,
        "status": status or own,
        "detail": detail or title,
        "request_id": current_request_id(),
        **{name: value for name, value in members.items() if value is not None},
    }


def problem_response(
    code: str, detail: str = "", *, status: int = 0, headers: Any = None, **members: Any
) -> JsonResponse:
    """Return a response that is a problem."""
    document = problem(code, detail, status, **members)
    return JsonResponse(
        document, status=document["status"], headers=headers, content_type=CONTENT_TYPE
    )


def from_validation(error: ModelValidationError) -> ProblemError:
    """Return what a rule of the league refused as the problem to answer with.

    An error that carries one of our codes is that problem; any other is invalid input.
    """
    if not hasattr(error, "error_dict"):
        first = error.error_list[0]
        if first.code in CODES:
            return ProblemError(str(first.code), " ".join(error.messages))
        return ProblemError("invalid", errors={"non_field_errors": error.messages})
    return ProblemError("invalid", errors=error.message_dict)


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
    (OperationalError, "unavailable"),
    (InterfaceError, "unavailable"),
]


def handle(error: Exception, context: dict[str, Any]) -> JsonResponse:
    """Answer any exception of a view with a problem; what nobody foresaw is logged."""
    if isinstance(error, ModelValidationError):
        error = from_validation(error)
    if isinstance(error, ProblemError):
        return problem_response(
            error.code, str(error.detail), headers=_headers(error), **error.members
        )
    if isinstance(error, exceptions.ValidationError):
        errors = error.detail if isinstance(error.detail, dict) else {"": error.detail}
        return problem_response("invalid", errors=errors)
    code = next((code for kind, code in _BY_TYPE if isinstance(error, kind)), "internal-error")
    if CODES[code][0] >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s: %s", code, type(error).__name__, exc_info=error)
        return problem_response(code, headers=_headers(error, code))
    detail = str(error.detail) if isinstance(error, exceptions.APIException) else ""
    return problem_response(code, detail, headers=_headers(error, code))


def code_for_status(status: int) -> str:
    """Return the code for an error that Django answered by itself."""
    general = {400: "bad-request", 403: "not-allowed", 404: "not-found", 503: "unavailable"}
    by_status = {known: code for code, (known, _) in CODES.items()} | general
    return by_status.get(status, "bad-request" if status < 500 else "internal-error")


def _headers(error: Exception, code: str = "") -> dict[str, str]:
    """Return the headers that DRF gives an error, and ours."""
    headers = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    if code == "unavailable":
        headers["Retry-After"] = "1"
    return headers
