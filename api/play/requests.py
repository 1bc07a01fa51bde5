"""One HTTP request of the waiting application and its response: headers, events, problems."""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from django.db import Error as DatabaseError

from api.request_ids import choose_request_id, set_request_id
from league.accounts import throttles

log = logging.getLogger(__name__)

_SECONDS = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?", re.ASCII)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

_PROBLEMS = {
    "invalid": (400, "The input is not valid; errors says which fields and why."),
    "not-authenticated": (401, "This call needs a token."),
    "invalid-token": (401, "The token doesn't work: mistyped, revoked or replaced."),
    "bot-token-needed": (403, "This call needs a bot token."),
    "not-found": (404, "There is no such thing."),
    "method-not-allowed": (405, "The method is none of those in the Allow header."),
    "too-many-requests": (429, "Too many requests; Retry-After says when to go on."),
    "internal-error": (500, "Something went wrong here; the log has it under the request's id."),
    "unavailable": (503, "The database can't be reached; try again soon."),
}
"""Those of the API's problem codes that these calls answer with, in its words."""


class ProblemError(Exception):
    """An answer that is a problem document (RFC 9457)."""

    def __init__(self, code: str, headers: Iterable[Header] = (), **members: Any) -> None:
        self.code = code
        self.headers = list(headers)
        self.members = members
        super().__init__(code)


def unauthorised(code: str) -> ProblemError:
    """Return a problem with the challenge of a 401."""
    return ProblemError(code, [(b"www-authenticate", b'Bearer realm="twelfth-night"')])


def unavailable() -> ProblemError:
    """Return the problem that the database is away."""
    return ProblemError("unavailable", [(b"retry-after", b"1")])


class Request:
    """One HTTP request and its response.

    Attributes:
        visitor: by what it is counted if it has no token that works.
    """

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._query: bytes = scope["query_string"]
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._receive, self._send = receive, send
        self._status = 0
        self._usage: throttles.Usage | None = None
        self.request_id = choose_request_id(self.header(b"x-request-id"))
        peer = scope.get("client") or ("",)
        self.visitor = throttles.visitor(peer[0], self.header(b"x-forwarded-for"))

    async def answer(self, view: Callable[["Request"], Awaitable[None]]) -> None:
        """Let a view respond; its problems become responses, and errors that nobody foresaw."""
        began = time.monotonic()
        set_request_id(self.request_id)
        try:
            await view(self)
        except ProblemError as error:
            await self._respond_problem(error)
        except asyncio.CancelledError:
            # The server is ending. Who waited is told that nothing came, and asks again.
            if self._status:
                await self.send_part(b"", more=False)
            else:
                await self.respond(200, b"[]", b"application/json")
        except DatabaseError as error:
            log.warning("%s: the database is away: %s", self.path, " ".join(str(error).split()))
            await self._respond_problem(unavailable())
        except Exception:
            log.exception("internal-error: %s %r", self.method, self.path)
            await self._respond_problem(ProblemError("internal-error"))
        took = (time.monotonic() - began) * 1000
        log.info("%s %r %d in %.0f ms", self.method, self.path, self._status, took)

    def count(self, policy: str, who: str) -> None:
        """Count the request for somebody; call it in a thread.

        Raises:
            ProblemError: it is one too many.
        """
        self._usage = throttles.count(policy, who)
        if self._usage and self._usage.is_exceeded:
            raise ProblemError("too-many-requests")

    def bearer_token(self) -> str:
        """Return the token that came with the request, or raise a problem."""
        scheme, _, text = self.header(b"authorization").partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            raise unauthorised("not-authenticated")
        return text.strip()

    def seconds(self, name: str, most: float) -> float:
        """Return a number of seconds from the query, 0 without one, or raise a problem."""
        query = parse_qs(self._query.decode("latin-1"), keep_blank_values=True)
        text = query.get(name, ["0"])[-1]
        if not _SECONDS.fullmatch(text) or float(text) > most:
            raise ProblemError(
                "invalid", errors={name: [f"This is a number of seconds from 0 to {most:.0f}."]}
            )
        return float(text)

    def header(self, name: bytes) -> str:
        """Return a header, empty where it was not sent."""
        return self._headers.get(name, b"").decode("latin-1").strip()

    async def events(
        self, news: asyncio.Event, keep_alive: float, check: Callable[[], Awaitable[None]] | None
    ) -> AsyncGenerator[None, None]:
        """Begin a stream of events, and go on whenever there are news until the client has gone.

        In between comments are sent, so that nobody takes the silence for a broken line.

        Args:
            news: set when there are some.
            keep_alive: seconds of silence after which a comment is sent.
            check: called before; what it raises ends the stream.
        """
        gone = asyncio.create_task(self.disconnected())
        gone.add_done_callback(lambda _: news.set())
        try:
            await self.start(200, [(b"content-type", b"text/event-stream")])
            await self.send_part(b": connected\n\n")
            while not gone.done():
                try:
                    await asyncio.wait_for(news.wait(), keep_alive)
                except TimeoutError:
                    if check:
                        await check()
                    await self.send_part(b": keep-alive\n\n")
                else:
                    yield
        finally:
            gone.cancel()

    async def disconnected(self) -> None:
        """Return when the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        """Send the head of the response."""
        self._status = status
        always = {"x-request-id": self.request_id, "cache-control": "no-store"}
        if self._usage:
            always |= self._usage.headers
        ours = [(name.lower().encode(), value.encode()) for name, value in always.items()]
        await self._send(
            {"type": "http.response.start", "status": status, "headers": [*headers, *ours]}
        )

    async def send_part(self, part: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": part, "more_body": more})

    async def respond(
        self, status: int, body: bytes, content_type: bytes, headers: Iterable[Header] = ()
    ) -> None:
        """Send a whole response."""
        length = str(len(body)).encode()
        await self.start(
            status, [(b"content-type", content_type), (b"content-length", length), *headers]
        )
        await self.send_part(body, more=False)

    async def _respond_problem(self, error: ProblemError) -> None:
        """Answer with a problem; where a stream has begun, as its last event."""
        status, title = _PROBLEMS[error.code]
        document = {
            "type": f"/api/v1/docs/#{error.code}",
            "code": error.code,
            "title": title,
            "status": status,
            "detail": title,
            "request_id": self.request_id,
            **error.members,
        }
        body = json.dumps(document).encode()
        if self._status:
            await self.send_part(b"event: problem\ndata: %b\n\n" % body, more=False)
        else:
            await self.respond(status, body, b"application/problem+json", error.headers)
