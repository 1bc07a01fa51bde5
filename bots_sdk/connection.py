"""The decisions that both clients share: requests, retries and errors, without input or output."""

import random
import re
import secrets
import ssl
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, TypeVar

import httpx

from bots_sdk.call import Call, Stream, read_nothing
from bots_sdk.errors import LeagueError, ProblemError, UnreachableError
from bots_sdk.pages import Page

API = "/api/v1/"

Result = TypeVar("Result")
Row = TypeVar("Row")

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 15.0
_SILENT_SECONDS = 40.0
"""The timeout of a stream. The league sends a keep-alive every 15 s."""

_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout)
"""Errors before a call was sent, so that it has certainly changed nothing."""
_RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
_HOST = re.compile(r"[\w.-]+(:\d+)?/?", re.ASCII)
_MAX_PORT = 65535
_ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")
_MOVED, _NOT_FOUND = 308, 404
_IN_PROGRESS = "idempotency-key-in-use"
"""The code of a problem: the first attempt of this call still runs."""


@cache
def _certificates(*, are_needed: bool) -> ssl.SSLContext:
    """Return the certificates to trust, none for a league without TLS.

    To load them takes 25 ms, so all clients share them.
    """
    return httpx.create_ssl_context() if are_needed else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True, slots=True)
class Retry:
    """How long to retry a call, and how long to wait before each attempt.

    Attributes:
        seconds: the last attempt starts at most this long after the first one; 0 for one attempt,
            `math.inf` for no limit.
        first_wait_seconds: the wait after the first failure; each next wait is up to twice as
            long.
        max_wait_seconds: the longest wait, unless the league sends a longer Retry-After.
        connecting: whether to retry if no connection can be made, such as to a league that is down.
    """

    seconds: float = 20.0
    first_wait_seconds: float = 0.25
    max_wait_seconds: float = 5.0
    connecting: bool = True


OnRetry = Callable[[LeagueError, float], None]
"""Receives the reason of a failure and the seconds until the next attempt."""

Outcome = httpx.Response | httpx.RequestError


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of a client.

    Attributes:
        url: the address of the league's pages.
        token: an owner token or a bot token; None for no token.
        retry: how long to retry a call.
        on_retry: the callback for each failure that is followed by another attempt.
    """

    url: str
    token: str | None = field(repr=False)
    retry: Retry
    on_retry: OnRetry | None

    def for_httpx(self) -> dict[str, Any]:
        """Return the arguments for a client of httpx."""
        headers = {"User-Agent": "twelfth-night-sdk", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        certificates = _certificates(are_needed=not self.url.startswith("http://"))
        return {"base_url": self.url + API, "headers": headers, "verify": certificates}

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """Return the arguments of httpx for a call."""
        arguments: dict[str, Any] = {
            "method": call.method,
            "url": call.path,
            "params": {key: value for key, value in call.query.items() if value is not None},
            "timeout": httpx.Timeout(
                _ANSWER_SECONDS,
                connect=_CONNECT_SECONDS,
                read=_ANSWER_SECONDS + call.wait_seconds,
            ),
        }
        if call.key is not None:
            arguments["headers"] = {"Idempotency-Key": call.key}
        if call.files is not None:
            return {**arguments, "files": call.files, "data": call.body}
        return arguments if call.body is None else {**arguments, "json": call.body}

    def with_key(self, call: Call[Result]) -> Call[Result]:
        """Return a call with a key that all its attempts share, if it creates an object."""
        return replace(call, key=secrets.token_hex(16)) if call.creates else call

    def stream_request(self, stream: Stream) -> dict[str, Any]:
        """Return the arguments of httpx for a stream."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if stream.last_event_id is not None:
            headers["Last-Event-ID"] = stream.last_event_id
        return {
            "method": "GET",
            "url": stream.path,
            "params": dict(stream.query),
            "headers": headers,
            "timeout": httpx.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
        }

    def attempts(self, call: Call[Result]) -> Generator[float, Outcome, Result]:
        """Yield the wait before each attempt, receive its outcome, and return the result.

        Raises:
            LeagueError: the failure of the last attempt.
        """
        began = time.monotonic()
        wait, longest = 0.0, self.retry.first_wait_seconds
        is_lost = False
        while True:
            outcome = yield wait
            if isinstance(outcome, httpx.RequestError):
                is_lost = is_lost or not isinstance(outcome, _UNSENT)
            elif outcome.is_success or (is_lost and _is_deleted(call, outcome)):
                return _result(call, outcome)
            error = self.error(outcome)
            wait = longest * random.uniform(0.5, 1.0)
            longest = min(2 * longest, self.retry.max_wait_seconds)
            if isinstance(error, ProblemError) and error.retry_after is not None:
                wait = max(wait, error.retry_after + random.uniform(0.0, 0.25))
            is_late = time.monotonic() + wait - began > self.retry.seconds
            is_down = isinstance(outcome, httpx.ConnectError) and not self.retry.connecting
            if is_late or is_down or not _may_retry(error, outcome):
                raise error
            if self.on_retry:
                self.on_retry(error, wait)

    def moved(self, response: httpx.Response) -> httpx.Request | None:
        """Return the same request for the new name of a bot; None if no bot was renamed.

        The new address is at the same league, so no other host gets the token.
        """
        again = response.next_request
        if response.status_code != _MOVED or again is None:
            return None
        return again if str(again.url).startswith(self.url + API) else None

    def error(self, outcome: Outcome) -> LeagueError:
        """Return the exception for an outcome other than success."""
        if isinstance(outcome, httpx.Response):
            problem = _problem(outcome)
            problem.url = self.url
            return problem
        reason = _ERROR_NUMBER.sub("", str(outcome)) or type(outcome).__name__
        return UnreachableError(self.url, reason)


def check_url(url: str) -> str:
    """Return the address of a league without its last slash.

    Raises:
        ValueError: the text is not an HTTP address.
    """
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is not an address: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        example = "http://127.0.0.1:8000"
        if "://" not in url and _HOST.fullmatch(url.strip()):
            example = f"http://{url.strip()}"
        raise ValueError(f"{url!r} is not an address such as {example}")
    if parsed.port is not None and not 0 < parsed.port <= _MAX_PORT:
        raise ValueError(f"{url!r} is not an address: a port is a number from 1 to {_MAX_PORT}")
    return str(parsed.copy_with(query=None, fragment=None)).rstrip("/").removesuffix(API[:-1])


def next_page(call: Call[Page[Row]], page: Page[Row]) -> Call[Page[Row]] | None:
    """Return the call for the next page.

    It takes only the query of the page's link, so the token is never sent to another host.
    """
    if page["next"] is None:
        return None
    return replace(call, query=dict(httpx.URL(page["next"]).params))


def unexpected_answer(response: httpx.Response) -> ProblemError:
    """Return the exception for a response that is not an answer of the API."""
    kind = response.headers.get("content-type", "no content type")
    location = response.headers.get("location")
    where = f" (a redirect to {location})" if location else ""
    return ProblemError(
        "unexpected-answer",
        response.status_code,
        f"{response.url} answered with status {response.status_code}{where} and {kind}. This is "
        "not the answer of a league.",
        retry_after=_retry_after(response),
    )


def _result(call: Call[Result], response: httpx.Response) -> Result:
    try:
        return call.read(response)
    except ValueError:
        raise unexpected_answer(response) from None


def _is_deleted(call: Call[Any], response: httpx.Response) -> bool:
    """Return whether an earlier attempt, whose answer was lost, has deleted the object."""
    is_gone = response.status_code == _NOT_FOUND
    return is_gone and call.method == "DELETE" and call.read is read_nothing


def _may_retry(error: LeagueError, outcome: Outcome) -> bool:
    """Return whether to send a call again after this outcome.

    Every call may be sent twice: a second one changes nothing, or has the key of the first.
    """
    if isinstance(error, ProblemError):
        return error.status in _RETRIED_STATUSES or error.code == _IN_PROGRESS
    return not isinstance(outcome, _HOPELESS)


def _problem(response: httpx.Response) -> ProblemError:
    """Return the problem document in a response as an exception."""
    try:
        document = response.json()
        code, detail = str(document["code"]), str(document["detail"])
    except (ValueError, TypeError, KeyError):
        return unexpected_answer(response)
    return ProblemError(code, response.status_code, detail, document, _retry_after(response))


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds in Retry-After, which has a number or a date."""
    text = response.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
