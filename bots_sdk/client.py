"""The client makes `calls`, in a thread or in an event loop, and retries where that is safe.

Reads and moves can be repeated: a second identical move gets the first one's answer. The client
retries them after lost connections and server errors. It retries other calls only if the first
attempt certainly did not arrive. The waits between attempts grow, with jitter, and respect
Retry-After. If a bot was renamed, a call with its former name is sent again with the new one.

    with Client("http://127.0.0.1:8000", token) as client:
        for bot in client.pages(calls.bots()):
            print(bot["name"])
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import sleep
from typing import Any, NamedTuple, Self, TypeVar, cast

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from bots_sdk.call import Call, Stream
from bots_sdk.connection import (
    Connection,
    OnRetry,
    Outcome,
    Retry,
    check_url,
    next_page,
    unexpected_answer,
)
from bots_sdk.errors import LeagueError, ProblemError
from bots_sdk.pages import Page
from engine.games.events import Event, from_json

__all__ = ["AsyncClient", "Client", "LeagueError", "ProblemError", "Retry", "ServerEvent"]

Result = TypeVar("Result")
Row = TypeVar("Row")

_RETRY = Retry()
_NO_CONTENT = 204


class ServerEvent(NamedTuple):
    """A server-sent event.

    Attributes:
        event: the kind of the event.
        data: the event's JSON value.
        id: the id of this event. If it has no id of its own: the id of the last event before it
            that has one. To continue a stream after this event, pass it as ``last_event_id``.
    """

    event: str
    data: Any
    id: str

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened in a phase of a match, as the public sees it.

        If the kind of this server-sent event is not ``phase``, the tuple is empty.

        Raises:
            ValueError: the league sent an event that the engine on this machine does not have.
        """
        if self.event != "phase":
            return ()
        return tuple(from_json(document) for document in self.data["events"])


class Client:
    """Makes calls and waits for the answers; several threads may share one client."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry: Retry = _RETRY,
        on_retry: OnRetry | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Create a client; the first call connects.

        Args:
            url: the address of the league's pages, such as ``http://127.0.0.1:8000``.
            token: an owner token or a bot token.
            retry: how long to retry a call.
            on_retry: the callback for each failure that is followed by another attempt.
            transport: a transport of httpx, for tests.
        """
        self._connection = Connection(check_url(url), token, retry, on_retry)
        self._http = httpx.Client(**self._connection.for_httpx(), transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def url(self) -> str:
        """The address of the league's pages."""
        return self._connection.url

    def send(self, call: Call[Result]) -> Result:
        """Make a call and return its result.

        Raises:
            ProblemError: the league answered with a problem.
            UnreachableError: the league did not answer.
        """
        call = self._connection.with_key(call)
        attempts = self._connection.attempts(call)
        wait = next(attempts)
        while True:
            sleep(wait)
            outcome: Outcome
            try:
                outcome = self._http.request(**self._connection.request(call))
                if (again := self._connection.moved(outcome)) is not None:
                    outcome = self._http.send(again)
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
            following = next_page(following, page)

    @contextmanager
    def events(self, stream: Stream) -> Iterator[Iterator[ServerEvent]]:
        """Open a stream and yield an iterator over its events, which ends with the stream.

        The client does not reconnect.

        Raises:
            LeagueError: as `send`, also during the iteration.
        """
        try:
            with self._http.stream(**self._connection.stream_request(stream)) as response:
                if not response.is_success:
                    response.read()
                    raise self._connection.error(response)
                if response.status_code == _NO_CONTENT:
                    yield iter(())
                    return
                try:
                    received = EventSource(response).iter_sse()
                    yield (_event(each) for each in received if each.data)
                except SSEError:
                    raise unexpected_answer(response) from None
        except httpx.RequestError as error:
            raise self._connection.error(error) from error


class AsyncClient:
    """Makes calls in an event loop."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry: Retry = _RETRY,
        on_retry: OnRetry | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Create a client; the arguments are those of `Client`."""
        self._connection = Connection(check_url(url), token, retry, on_retry)
        self._http = httpx.AsyncClient(**self._connection.for_httpx(), transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def url(self) -> str:
        """The address of the league's pages."""
        return self._connection.url

    async def send(self, call: Call[Result]) -> Result:
        """Make a call and return its result; raises as `Client.send` does."""
        call = self._connection.with_key(call)
        attempts = self._connection.attempts(call)
        wait = next(attempts)
        while True:
            await asyncio.sleep(wait)
            outcome: Outcome
            try:
                outcome = await self._http.request(**self._connection.request(call))
                if (again := self._connection.moved(outcome)) is not None:
                    outcome = await self._http.send(again)
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
            following = next_page(following, page)

    @asynccontextmanager
    async def events(self, stream: Stream) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """Open a stream and yield an iterator over its events, as `Client.events` does."""
        try:
            async with self._http.stream(**self._connection.stream_request(stream)) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._connection.error(response)
                if response.status_code == _NO_CONTENT:
                    yield _no_events()
                    return
                try:
                    received = EventSource(response).aiter_sse()
                    yield (_event(each) async for each in received if each.data)
                except SSEError:
                    raise unexpected_answer(response) from None
        except httpx.RequestError as error:
            raise self._connection.error(error) from error


async def _no_events() -> AsyncIterator[ServerEvent]:
    nothing: tuple[ServerEvent, ...] = ()
    for event in nothing:
        yield event


def _event(received: ServerSentEvent) -> ServerEvent:
    return ServerEvent(received.event, received.json(), received.id)
