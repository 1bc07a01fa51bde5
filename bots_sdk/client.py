"""The client: makes `calls`, in a thread or in an event loop, and tries again where that is safe.

What may be repeated (all that reads, and moves, of which a second one gets the first one's answer)
is tried again after lost connections and server errors; the rest only where it surely did not
arrive. The waits between grow, with jitter, and are at least what Retry-After says.

    with Client("http://127.0.0.1:8000", token) as client:
        for bot in client.pages(calls.bots()):
            print(bot["name"])
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, Self, TypeVar, cast

import httpx

from bots_sdk.call import Call, Stream
from bots_sdk.errors import LeagueError, ProblemError, UnreachableError
from bots_sdk.pages import Page

__all__ = ["AsyncClient", "Client", "LeagueError", "ProblemError", "Retry", "ServerEvent"]

API = "/api/v1/"

Result = TypeVar("Result")
Row = TypeVar("Row")

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 15.0
_SILENT_SECONDS = 40.0
"""A stream sends a keep-alive every 15 s; one silent for longer is dead."""

_NEVER_ARRIVED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
_TRY_AGAIN = frozenset({408, 500, 502, 503, 504})
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Retry:
    """How long to try, and how long to wait between.

    Attributes:
        seconds: no try begins later than this after the first; 0 for one try, `math.inf` for ever.
        first: the wait after the first failure; each is up to twice the one before.
        most: the longest wait, unless Retry-After says more.
    """

    seconds: float = 20.0
    first: float = 0.25
    most: float = 5.0


OnRetry = Callable[[LeagueError, float], None]
"""Told why a call failed and in how many seconds it is tried again."""

Outcome = httpx.Response | httpx.RequestError


class ServerEvent(NamedTuple):
    """A server-sent event: its kind, its data from JSON, and its id for resuming after it."""

    event: str
    data: Any
    id: str


# -- Without input or output -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Settings:
    """What both clients are made of."""

    url: str
    token: str | None = field(repr=False)
    retry: Retry
    on_retry: OnRetry | None

    def for_httpx(self) -> dict[str, Any]:
        headers = {"User-Agent": "twelfth-night-sdk", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return {"base_url": self.url + API, "headers": headers}

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """Return the arguments of httpx for a call."""
        arguments: dict[str, Any] = {
            "method": call.method,
            "url": call.path,
            "params": {key: value for key, value in call.query.items() if value is not None},
            "timeout": httpx.Timeout(
                _ANSWER_SECONDS, connect=_CONNECT_SECONDS, read=_ANSWER_SECONDS + call.wait_seconds
            ),
        }
        if call.files is not None:
            return {**arguments, "files": call.files, "data": call.body}
        return arguments if call.body is None else {**arguments, "json": call.body}

    def stream_request(self, stream: Stream) -> dict[str, Any]:
        """Return the arguments of httpx for a stream."""
        headers = {"Accept": "text/event-stream"}
        if stream.last_event_id is not None:
            headers["Last-Event-ID"] = stream.last_event_id
        return {
            "method": "GET",
            "url": stream.path,
            "headers": headers,
            "timeout": httpx.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
        }

    def attempts(self, call: Call[Result]) -> Generator[float, Outcome, Result]:
        """Yield how long to wait before each try, be sent what came of it, return the result.

        Raises:
            LeagueError: the last try's failure.
        """
        began = time.monotonic()
        wait, longest = 0.0, self.retry.first
        while True:
            outcome = yield wait
            if isinstance(outcome, httpx.Response) and outcome.is_success:
                return self._read(call, outcome)
            error = self.error(outcome)
            wait = longest * random.uniform(0.5, 1.0)
            longest = min(2 * longest, self.retry.most)
            if isinstance(error, ProblemError) and error.retry_after is not None:
                wait = max(wait, error.retry_after + random.uniform(0.0, 0.25))
            late = time.monotonic() + wait - began > self.retry.seconds
            if late or not _may_repeat(call, outcome):
                raise error
            if self.on_retry:
                self.on_retry(error, wait)

    def error(self, outcome: Outcome) -> LeagueError:
        """Return what an outcome other than success is raised as."""
        if isinstance(outcome, httpx.Response):
            return _problem(outcome)
        reason = str(outcome) or type(outcome).__name__
        return UnreachableError(self.url, reason)

    def _read(self, call: Call[Result], response: httpx.Response) -> Result:
        try:
            return call.read(response)
        except ValueError:
            raise _unexpected(response) from None


def _may_repeat(call: Call[Any], outcome: Outcome) -> bool:
    """Return whether a call that came to this may be sent again."""
    if isinstance(outcome, httpx.Response):
        status = outcome.status_code
        return status == _TOO_MANY or (call.repeatable and status in _TRY_AGAIN)
    if isinstance(outcome, _HOPELESS):
        return False
    return call.repeatable or isinstance(outcome, _NEVER_ARRIVED)


def _problem(response: httpx.Response) -> ProblemError:
    """Return the problem that a response is."""
    try:
        document = response.json()
        code, detail = str(document["code"]), str(document["detail"])
    except (ValueError, TypeError, KeyError):
        return _unexpected(response)
    return ProblemError(code, response.status_code, detail, document, _retry_after(response))


def _unexpected(response: httpx.Response) -> ProblemError:
    kind = response.headers.get("content-type", "no content type")
    where = f" to {response.headers['location']}" if "location" in response.headers else ""
    return ProblemError(
        "unexpected-answer",
        response.status_code,
        f"{response.url} answered {response.status_code}{where} with {kind}, which is no answer of "
        "a league; is the address right?",
        retry_after=_retry_after(response),
    )


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that Retry-After asks for: a number, or a date."""
    text = response.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _after(call: Call[Page[Row]], page: Page[Row]) -> Call[Page[Row]] | None:
    """Return the call for the next page; the token goes nowhere but to the same address."""
    if page["next"] is None:
        return None
    return replace(call, query=dict(httpx.URL(page["next"]).params))


class _EventParser:
    """Server-sent events from the lines of a stream."""

    def __init__(self) -> None:
        self._fields: dict[str, list[str]] = {}
        self._id = ""

    def feed(self, line: str) -> ServerEvent | None:
        """Take a line; return the event that it ends."""
        if line:
            name, _, value = line.partition(":")
            self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        self._id = fields.get("id", [self._id])[-1]
        if "data" not in fields:
            return None
        kind = fields.get("event", ["message"])[-1]
        return ServerEvent(kind, json.loads("\n".join(fields["data"])), self._id)


def check_url(url: str) -> str:
    """Return the address of a league without its last slash.

    Raises:
        ValueError: it is none.
    """
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no address: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{url!r} is no address; one looks like http://127.0.0.1:8000")
    return str(parsed.copy_with(query=None, fragment=None)).rstrip("/").removesuffix(API[:-1])


# -- With it ---------------------------------------------------------------------------------


class Client:
    """Makes calls and waits for the answers; several threads may share one."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry: Retry = Retry(),
        on_retry: OnRetry | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            url: where the league's pages are, as ``http://127.0.0.1:8000``.
            token: of an owner or a bot.
            retry: how long to try.
            on_retry: told of each failure that is not the last.
            transport: of httpx, for tests.
        """
        self._settings = _Settings(check_url(url), token, retry, on_retry)
        self._http = httpx.Client(**self._settings.for_httpx(), transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def url(self) -> str:
        """Where the league's pages are."""
        return self._settings.url

    def send(self, call: Call[Result]) -> Result:
        """Make a call and return its result.

        Raises:
            ProblemError: the league answered with a problem.
            UnreachableError: it did not answer.
        """
        attempts = self._settings.attempts(call)
        wait = next(attempts)
        while True:
            time.sleep(wait)
            outcome: Outcome
            try:
                outcome = self._http.request(**self._settings.request(call))
            except httpx.RequestError as error:
                outcome = error
            try:
                wait = attempts.send(outcome)
            except StopIteration as end:
                return cast(Result, end.value)

    def pages(self, call: Call[Page[Row]]) -> Iterator[Row]:
        """Yield the rows of a list, page after page; raises as `send` does."""
        following: Call[Page[Row]] | None = call
        while following is not None:
            page = self.send(following)
            yield from page["results"]
            following = _after(following, page)

    @contextmanager
    def events(self, stream: Stream) -> Iterator[Iterator[ServerEvent]]:
        """Open a stream and give its events, until it ends; nothing is tried again.

        Raises:
            LeagueError: as `send`, also while iterating.
        """
        try:
            with self._http.stream(**self._settings.stream_request(stream)) as response:
                if not response.is_success:
                    response.read()
                    raise self._settings.error(response)
                parse = _EventParser().feed
                yield (event for line in response.iter_lines() if (event := parse(line)))
        except httpx.RequestError as error:
            raise self._settings.error(error) from error


class AsyncClient:
    """Makes calls in an event loop."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry: Retry = Retry(),
        on_retry: OnRetry | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Connect to nothing yet; the arguments are those of `Client`."""
        self._settings = _Settings(check_url(url), token, retry, on_retry)
        self._http = httpx.AsyncClient(**self._settings.for_httpx(), transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def url(self) -> str:
        """Where the league's pages are."""
        return self._settings.url

    async def send(self, call: Call[Result]) -> Result:
        """Make a call and return its result; raises as `Client.send` does."""
        attempts = self._settings.attempts(call)
        wait = next(attempts)
        while True:
            await asyncio.sleep(wait)
            outcome: Outcome
            try:
                outcome = await self._http.request(**self._settings.request(call))
            except httpx.RequestError as error:
                outcome = error
            try:
                wait = attempts.send(outcome)
            except StopIteration as end:
                return cast(Result, end.value)

    async def pages(self, call: Call[Page[Row]]) -> AsyncIterator[Row]:
        """Yield the rows of a list, page after page; raises as `send` does."""
        following: Call[Page[Row]] | None = call
        while following is not None:
            page = await self.send(following)
            for row in page["results"]:
                yield row
            following = _after(following, page)

    @asynccontextmanager
    async def events(self, stream: Stream) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """Open a stream and give its events, as `Client.events` does."""
        try:
            async with self._http.stream(**self._settings.stream_request(stream)) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._settings.error(response)
                parse = _EventParser().feed
                yield (event async for line in response.aiter_lines() if (event := parse(line)))
        except httpx.RequestError as error:
            raise self._settings.error(error) from error
