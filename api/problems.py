"""Problems (RFC 9457): the API's errors, each with a code that programs may rely on.

`CODES` is the only table of codes, statuses and titles. Django's views, the gateway and the front
(`devserver/Caddyfile`) use it. `api.exceptions` turns the exceptions of views into problems.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.http import JsonResponse
from structlog.contextvars import get_contextvars

from league.accounts.passwords import TooManyTriesError
from league.accounts.throttles import Usage

CONTENT_TYPE = "application/problem+json"
PREFIX = "/api/"
"""Errors at addresses that begin so are problems; other addresses are pages."""
API_ROOT = f"{PREFIX}v1/"
TYPES = f"{API_ROOT}docs/#"
"""The start of a problem's ``type``; with the code it links to the code's line in the docs."""
RETRY_SECONDS = 1
"""``Retry-After`` of an answer that the database could not give."""

CODES: dict[str, tuple[int, str]] = {
    "invalid": (400, "The input is not valid."),
    "invalid-json": (400, "The body is not valid JSON. Correct it and send it again."),
    "invalid-cursor": (
        400,
        "The cursor is not from this list. Use an address from the field next or previous of a "
        "page.",
    ),
    "unknown-host": (400, "The league does not answer at this host. Use the league's address."),
    "bad-request": (400, "The request is malformed. Check its address, headers and body."),
    "not-authenticated": (
        401,
        "This call needs a token in the header Authorization: Bearer TOKEN. POST /api/v1/tokens "
        "returns an owner token, POST /api/v1/bots/NAME/token a bot token.",
    ),
    "invalid-token": (
        401,
        "The token does not work: it is mistyped, expired, revoked or replaced. `twelfth-night bot "
        "token NAME --print-token` or POST /api/v1/bots/NAME/token returns a new bot token, POST "
        "/api/v1/tokens returns a new owner token.",
    ),
    "wrong-credentials": (
        401,
        "No account has this name and password. POST /api/v1/accounts creates an account.",
    ),
    "owner-token-needed": (403, "This call needs an owner token. POST /api/v1/tokens returns one."),
    "bot-token-needed": (
        403,
        "This call needs a bot token: send the one that came with the bot. If it is lost, POST "
        "/api/v1/bots/NAME/token or `twelfth-night bot token NAME` returns a new one, and the old "
        "one stops working.",
    ),
    "scope-needed": (
        403,
        "The token does not have the scope that this call needs. POST /api/v1/tokens returns a "
        "token with the scopes that you name.",
    ),
    "organiser-needed": (
        403,
        "This call needs the owner token of an organiser. Ask the operator for this role.",
    ),
    "not-your-bot": (
        403,
        "The bot belongs to another account. POST /api/v1/bots creates a bot of your own.",
    ),
    "own-quarantine": (
        403,
        "You can't lift or change the quarantine of your own account or bot; another organiser "
        "can.",
    ),
    "not-allowed": (403, "You don't have permission for this."),
    "not-found": (
        404,
        "Nothing that you may see is at this address. The detail names what is missing.",
    ),
    "method-not-allowed": (
        405,
        "This path does not allow this method. The header Allow lists its methods.",
    ),
    "not-acceptable": (
        406,
        "The header Accept excludes JSON. Send Accept: application/json.",
    ),
    "entries-not-open": (
        409,
        "The tournament's state does not allow this: entries have closed, or are not open yet.",
    ),
    "bot-has-left": (409, "The bot left this tournament and can't enter it again."),
    "no-version": (409, "The bot has no version that can play yet."),
    "not-qualified": (
        409,
        "The bot can't play this game: its file does not name the game, or its check failed.",
    ),
    "quarantined": (409, "An organiser keeps the bot or its account out of new matches."),
    "not-quarantined": (409, "There is no quarantine to lift."),
    "not-disqualified": (409, "The bot is not disqualified, so there is nothing to take back."),
    "not-cancelled": (409, "The tournament is not cancelled, so there is nothing to take back."),
    "block-void": (409, "The block is void already."),
    "block-not-void": (409, "No organiser made the block void, so there is nothing to take back."),
    "block-unfinished": (
        409,
        "Some matches of this void block were never finished, so it can't become valid again. Let "
        "the league play it again instead.",
    ),
    "block-not-replayable": (409, "The block can't be played again now."),
    "changed-meanwhile": (409, "Somebody else has changed this object since you read it."),
    "not-ready": (409, "The version is not ready to play."),
    "not-checking": (409, "The check of the version is over, so you can't withdraw it."),
    "bot-paused": (409, "The bot is paused."),
    "bot-offline": (409, "The bot is offline: it asked for no turns in the last 60 s."),
    "challenges-refused": (409, "The bot's owner accepts no challenges. Choose another bot."),
    "not-hosted": (409, "Only versions of hosted bots can be compared."),
    "comparison-running": (409, "Another comparison of this bot is running."),
    "too-few-opponents": (409, "The ladder has too few bots that can play now."),
    "same-file": (
        409,
        "The bot has this file already: as its current version, or as a version in its check.",
    ),
    "too-many-uploads": (409, "Too many of your versions are being checked."),
    "tournament-begun": (409, "The tournament has started or ended, so you can't change it."),
    "too-many-matches": (409, "Too many of your unrated matches or challenges are unfinished."),
    "not-finished": (409, "The match is not finished, so it has no record yet."),
    "block-not-finished": (
        409,
        "The record is secret until all matches with this deal are finished. Try again later.",
    ),
    "idempotency-key-in-use": (
        409,
        "The first request with this Idempotency-Key still runs. Wait for the seconds in "
        "Retry-After, then send the request again.",
    ),
    "idempotency-key-spent": (
        409,
        "The first answer to this Idempotency-Key had a token, which has been revoked or replaced "
        "since. Get a new token with another key.",
    ),
    "bot-retired": (409, "The bot was deleted, so it can't change or play any more."),
    "turn-already-decided": (409, "This turn is over: another move was played in it."),
    "turn-not-open": (409, "This turn is not open. GET /api/v1/turns lists the open turns."),
    "turn-expired": (409, "The deadline has passed, and the referee has played."),
    "length-required": (411, "A request with a body needs the header Content-Length."),
    "body-too-large": (413, "The body is too long for this call."),
    "unsupported-media-type": (415, "The body must be application/json or multipart/form-data."),
    "idempotency-key-reused": (
        422,
        "This Idempotency-Key was sent with another request. Use a new key for each object that "
        "you create.",
    ),
    "illegal-move": (422, "The rules don't allow this move."),
    "too-many-bots": (429, "The account has created too many bots in 24 hours."),
    "too-many-versions": (429, "The account has uploaded too many versions in 24 hours."),
    "too-many-renames": (429, "The account has renamed bots too often in 24 hours."),
    "too-many-challenges": (429, "The account or the bot has had too many challenges in 24 hours."),
    "too-many-tries": (429, "Too many wrong passwords for this account. Try again later."),
    "too-many-waiting": (429, "Too many of your requests are waiting. End one of them first."),
    "too-many-streams": (429, "Too many of your streams are open. Close one of them first."),
    "too-many-at-once": (429, "Too many requests at once from your address. Try again soon."),
    "too-many-requests": (429, "Too many requests. Wait for the seconds in Retry-After."),
    "internal-error": (
        500,
        "The server failed. Send the request_id to the operator, who finds the error in the log.",
    ),
    "busy": (
        503,
        "The league is busy with other requests of the same kind, such as sign-ins or moves. Try "
        "again after the seconds in Retry-After.",
    ),
    "unavailable": (503, "A part of the league can't be reached. Try again soon."),
}
"""Every code with its HTTP status and its title: the meaning of the code in one line."""


class ProblemError(Exception):
    """An answer that is a problem.

    Attributes:
        code: one of `CODES`.
        detail: what happened, by default the code's title.
        headers: of the response.
        members: of the document, beside those that every problem has.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        self.code = code
        self.status, title = CODES[code]
        self.detail = detail or title
        self.headers = dict(headers or {})
        self.members = members
        super().__init__(self.detail)

    def document(self) -> dict[str, Any]:
        """Return the problem document."""
        return problem(self.code, self.detail, **self.members)


class BotMovedError(Exception):
    """The bot of an address has another name now.

    Attributes:
        old: the name in the address.
        new: the name now.
    """

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        super().__init__(f"The bot {old} is called {new} now.")

    def new_address(self, full_path: str) -> str:
        """Return an address with the new name in place of the old one."""
        path, mark, query = full_path.partition("?")
        parts = path.split("/")
        for number, part in enumerate(parts[:-1]):
            if part in ("bots", "entries") and parts[number + 1] == self.old:
                parts[number + 1] = self.new
        return "/".join(parts) + mark + query


def too_many_requests(usage: Usage) -> ProblemError:
    """Return the problem for a client that has used up a rate limit."""
    return ProblemError("too-many-requests", usage.refusal, headers=usage.headers)


def too_many_tries(error: TooManyTriesError) -> ProblemError:
    """Return the problem for an account for which too many wrong passwords were tried."""
    return ProblemError("too-many-tries", str(error), headers=error.usage.headers)


def method_not_allowed(method: str | None, allowed: Iterable[str]) -> str:
    """Return the detail of the problem for a method that a path does not allow.

    Args:
        method: of the request.
        allowed: all methods of the path; the answers to HEAD and OPTIONS are those to the others.
    """
    *others, last = [each for each in allowed if each not in ("HEAD", "OPTIONS")]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"This path does not allow {method}. It allows {names}."


def slash_too_many(path: str) -> str:
    """Return the detail of the problem for a path that is a call but for a slash at its end."""
    return f"There is no call at this address. Calls have no slash at the end: {path.rstrip('/')}."


def busy() -> ProblemError:
    """Return the problem for a request that would exceed the work that a process may do."""
    return ProblemError("busy", headers={"Retry-After": str(RETRY_SECONDS)})


def unavailable() -> ProblemError:
    """Return the problem for a request that could not reach the database."""
    return ProblemError("unavailable", headers={"Retry-After": str(RETRY_SECONDS)})


def problem(code: str, detail: str = "", status: int = 0, **members: Any) -> dict[str, Any]:
    """Return a problem document; it leaves out members that are None.

    Args:
        code: one of `CODES`.
        detail: what happened, by default the first of the errors, else the code's title.
        status: the HTTP status, by default the code's.
        members: of the document. ``errors`` may be nested messages by field, as Django and DRF
            report them; the document has them as a list of objects with ``field`` and ``message``.
    """
    usual_status, usual_title = CODES[code]
    if "errors" in members:
        found = list(_listed(members["errors"]))
        members["errors"] = [{"field": field, "message": message} for field, message in found]
        if found and detail in ("", usual_title):
            detail = _first_of(found)
    return {
        "type": TYPES + code,
        "code": code,
        "title": usual_title,
        "status": status or usual_status,
        "detail": detail or usual_title,
        "request_id": get_contextvars().get("request_id", "-"),
        **{name: value for name, value in members.items() if value is not None},
    }


def problem_response(
    code: str,
    detail: str = "",
    *,
    status: int = 0,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> JsonResponse:
    """Return a problem as a response of Django."""
    document = problem(code, detail, status, **members)
    return JsonResponse(
        document, status=document["status"], headers=headers, content_type=CONTENT_TYPE
    )


def _first_of(errors: list[tuple[str, str]]) -> str:
    """Return the first error as a sentence, with the number of the others."""
    field, message = errors[0]
    text = f"{field}: {message}" if field else message
    if len(errors) == 1:
        return text
    return f"{text} ({len(errors) - 1} more error{'s' if len(errors) > 2 else ''}.)"


_WHOLE = ("non_field_errors", "__all__", "")
"""Keys of Django and DRF for errors of the whole input."""


def _listed(errors: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each message of nested errors with the path of its field, such as ``moves.3.turn``."""
    if isinstance(errors, Mapping):
        parts = [("" if name in _WHOLE else str(name), each) for name, each in errors.items()]
    elif isinstance(errors, list | tuple):
        parts = [
            (str(number) if isinstance(each, Mapping | list) else "", each)
            for number, each in enumerate(errors)
        ]
    else:
        yield path, str(errors)
        return
    for name, inner in parts:
        yield from _listed(inner, ".".join(filter(None, [path, name])))


_CODES_OF_STATUSES = {
    400: "bad-request",
    401: "not-authenticated",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    411: "length-required",
    413: "body-too-large",
    415: "unsupported-media-type",
    429: "too-many-requests",
    503: "unavailable",
}
"""The codes that a status alone allows; 409 and 422 need to name what is wrong."""


def code_for_status(status: int) -> str:
    """Return the code for an error response that Django made itself."""
    return _CODES_OF_STATUSES.get(status, "bad-request" if status < 500 else "internal-error")
