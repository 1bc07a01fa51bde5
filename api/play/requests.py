"""HTTP for the gateway: one request and its response, server-sent events, problems."""

import asyncio
import json
import math
import re
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    MutableMapping,
)
from functools import cache
from typing import Any
from urllib.parse import parse_qs, quote

import structlog
from django.conf import settings
from django.db import Error as DatabaseError

from api.headers import ALLOW_ORIGIN, SECRET, security_headers
from api.middleware import REQUEST_ID_HEADER, begin_request, body_refusal, end_span, is_quiet
from api.play.threads import call_in_thread
from api.problems import CONTENT_TYPE, ProblemError, too_many_requests, unavailable
from api.unknown_names import ONLY_ONCE, refuse_names
from league import durations, tracing
from league.accounts import throttles

log = structlog.get_logger("api.requests")

KEEP_ALIVE_SECONDS = 15.0
"""Time without an event after which a stream gets a comment, so that no proxy takes the connection
for a dead one."""
DISCONNECT = "http.disconnect"
NO_TURNS = b'{"turns":[]}'
"""The answer to a request for turns if none is open."""
_SECONDS = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?", re.ASCII)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def encode_event(kind: str, data: bytes, event_id: str = "") -> bytes:
    """Return a server-sent event; the data must be one line."""
    id_line = f"id: {event_id}\n" if event_id else ""
    return f"event: {kind}\n{id_line}data: ".encode() + data + b"\n\n"


def _encoded(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.lower().encode(): value.encode() for name, value in headers.items()}


@cache
def _same_headers(*, is_read: bool, is_secure: bool, hsts_seconds: int) -> Mapping[bytes, bytes]:
    """Return the headers that are the same for all responses.

    Args:
        is_read: whether the request only reads.
        is_secure: whether the client uses TLS.
        hsts_seconds: the setting, on which they depend.
    """
    same = {"Cache-Control": SECRET, **security_headers(is_secure=is_secure)}
    return _encoded(same | ALLOW_ORIGIN if is_read else same)


class Request:
    """One HTTP request and its response.

    Attributes:
        client: the client of the rate limits while no token is found: the address.
        route: the pattern of its path, empty until a call is found.
        receive: returns the next message from the server; the last one has the type `DISCONNECT`.
    """

    # Thousands of them wait at the same time.
    __slots__ = (
        "_by_name", "_headers", "_id", "_query", "_send", "_status", "_usage", "client", "method",
        "path", "receive", "route", "token_read_until",
    )  # fmt: skip

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.route = ""
        self._query: bytes = scope["query_string"]
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._by_name: dict[bytes, bytes] | None = None
        self.receive, self._send = receive, send
        self._status = 0
        self.token_read_until = 0.0
        self._usage: throttles.Usage | None = None
        self._id = ""
        peer = scope.get("client") or ("",)
        self.client = throttles.client_by_address(peer[0], self.header(b"x-forwarded-for"))

    async def answer(self, view: Callable[["Request"], Awaitable[None]]) -> None:
        """Run a view that responds; respond with a problem if it raises one or fails."""
        began = time.monotonic()
        self._id = begin_request(self.header(REQUEST_ID_HEADER.lower().encode()))
        parent = self.header(tracing.TRACEPARENT.encode()) or ""
        span = None if is_quiet(self.path) else tracing.begin("", tracing.SERVER, parent)
        try:
            await view(self)
        except ProblemError as error:
            await self._respond_problem(error)
        except asyncio.CancelledError:
            # The server stops. A client that waits gets an empty answer and calls again.
            if self._status:
                await self.send_part(b"", more=False)
            elif self.method != "GET":
                await self._respond_problem(unavailable())
            else:
                await self.respond(200, NO_TURNS, "application/json")
        except DatabaseError as error:
            log.warning("the database can't be reached", error=" ".join(str(error).split()))
            await self._respond_problem(unavailable())
        except Exception:
            log.exception("the request failed", code="internal-error")
            await self._respond_problem(ProblemError("internal-error"))
        seconds = time.monotonic() - began
        end_span(span, self.method, self.path, self.route, self._status)
        if not is_quiet(self.path):
            durations.note_request("gateway", self.route, self._status, seconds)
        write = log.debug if is_quiet(self.path) else log.info
        write(
            "request finished",
            method=self.method,
            path=self.path,
            status=self._status,
            milliseconds=round(seconds * 1000),
        )

    async def count(self, policy: str, client: str) -> None:
        """Count the request for a client.

        Raises:
            ProblemError: the client has used up the limit.
        """
        self._usage = throttles.count_reserved(policy, client)
        if self._usage is None:  # the cache may keep a thread waiting
            self._usage = await call_in_thread(lambda: throttles.count(policy, client))
        if self._usage and self._usage.is_exceeded:
            raise too_many_requests(self._usage)

    async def body(self, max_bytes: int) -> bytes:
        """Return the whole body.

        Raises:
            ProblemError: it is too long or of unknown length, or the client disconnects.
        """
        error = body_refusal(
            self.header(b"content-length"),
            is_chunked=bool(self.header(b"transfer-encoding")),
            max_bytes=max_bytes,
        )
        if error:
            raise error
        parts = []
        while True:
            message = await self.receive()
            if message["type"] == DISCONNECT:
                raise ProblemError(
                    "bad-request", "The connection ended before the whole body had arrived."
                )
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(parts)

    def seconds(self, name: str, max_seconds: float) -> float:
        """Return a number of seconds from the query string, by default 0.

        Raises:
            ProblemError: the value is not a number from 0 to the maximum.
        """
        given = self.query({name}).get(name, ["0"])
        text = given[0]
        if len(given) > 1:
            raise ProblemError("invalid", errors={name: [ONLY_ONCE]})
        if not _SECONDS.fullmatch(text) or float(text) > max_seconds:
            message = f"This must be a number of seconds from 0 to {max_seconds:.0f}."
            raise ProblemError("invalid", errors={name: [message]})
        return float(text)

    def query(self, known: Collection[str]) -> dict[str, list[str]]:
        """Return the parameters of the query string.

        Raises:
            ProblemError: ``invalid``: there is a parameter that is not known.
        """
        try:
            query = parse_qs(self._query.decode("latin-1"), keep_blank_values=True)
        except ValueError:  # too many parameters
            raise ProblemError("bad-request") from None
        if errors := refuse_names(query, known, "parameter"):
            raise ProblemError("invalid", errors=errors)
        return query

    @property
    def is_secure(self) -> bool:
        """Whether the client uses TLS, as the front reports it."""
        return self.header(b"x-forwarded-proto") == "https"

    async def redirect_to_tls(self) -> None:
        """Respond with the same address under ``https``."""
        query = f"?{self._query.decode('latin-1')}" if self._query else ""
        location = f"https://{self.header(b'host')}{quote(self.path)}{query}"
        await self.respond(301, b"", "text/html; charset=utf-8", {"Location": location})

    def header(self, name: bytes) -> str:
        """Return a header by its name in lower case, empty if the client did not send it."""
        if self._by_name is None:
            self._by_name = dict(self._headers)  # the last one of a name counts
        return self._by_name.get(name, b"").decode("latin-1").strip()

    def forget_headers(self, *, but: Collection[bytes]) -> None:
        """Free the memory of all headers but some, before a long wait."""
        # The server holds the same list.
        self._headers[:] = [header for header in self._headers if header[0] in but]
        self._by_name = None

    async def stream(
        self,
        changed: asyncio.Event,
        check: Callable[[], Awaitable[None]] | None = None,
        *,
        max_seconds: float = math.inf,
    ) -> AsyncGenerator[None, None]:
        """Begin a stream of events; yield after each change until the client disconnects.

        Args:
            changed: set by others after a change, cleared by the caller.
            check: called before each comment that keeps the connection alive; an exception of it
                ends the stream.
            max_seconds: how long the stream lasts, and at most `KEEP_ALIVE_SECONDS` more.
        """
        ends_at = time.monotonic() + max_seconds
        disconnected = asyncio.create_task(self.disconnected())
        disconnected.add_done_callback(lambda _: changed.set())
        try:
            await self.start(200, {"Content-Type": "text/event-stream"})
            await self.send_part(b": connected\n\n")
            while not disconnected.done() and time.monotonic() < ends_at:
                try:
                    await asyncio.wait_for(changed.wait(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    if check:
                        await check()
                    await self.send_part(b": keep-alive\n\n")
                else:
                    yield
        finally:
            disconnected.cancel()

    async def disconnected(self) -> None:
        """Return when the client disconnects."""
        while (await self.receive())["type"] != DISCONNECT:
            pass

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status and the headers of the response."""
        self._status = status
        sent = {REQUEST_ID_HEADER: self._id}
        if self._usage:
            sent |= self._usage.headers
        sent |= headers
        same = _same_headers(
            is_read=self.method == "GET",
            is_secure=self.is_secure,
            hsts_seconds=settings.SECURE_HSTS_SECONDS,
        )
        encoded = {**same, **_encoded(sent)}
        await self._send(
            {"type": "http.response.start", "status": status, "headers": [*encoded.items()]}
        )

    async def send_part(self, part: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": part, "more_body": more})

    async def respond(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole response."""
        own = {"Content-Type": content_type, "Content-Length": str(len(body))}
        await self.start(status, own | dict(headers or {}))
        await self.send_part(body, more=False)

    async def _respond_problem(self, error: ProblemError) -> None:
        """Respond with a problem; if a stream has begun, send it as the last event."""
        body = json.dumps(error.document()).encode()
        if self._status:
            await self.send_part(encode_event("problem", body), more=False)
        else:
            await self.respond(error.status, body, CONTENT_TYPE, error.headers)
