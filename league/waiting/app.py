"""``turns``, ``turns/stream`` and ``matches/{id}/events``: the ASGI application.

Run it with ``uvicorn league.waiting.app:application``. Everything else of the API is Django's.
"""

import asyncio
import json
import os
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django.setup()

from django.conf import settings  # noqa: E402 - models need Django set up
from django.db import Error as DatabaseError  # noqa: E402

from league.models import Bot  # noqa: E402
from league.play.wakeups import MATCHES, TURNS  # noqa: E402
from league.waiting.database import Database, OfferedTurn  # noqa: E402
from league.waiting.hints import Ears  # noqa: E402
from league.waiting.matches import Matches  # noqa: E402
from league.waiting.turns import Turns  # noqa: E402

LONGEST_WAIT = 30.0
KEEP_ALIVE_SECONDS = 15.0

_TURNS = "/api/v1/turns"
_STREAM = "/api/v1/turns/stream"
_EVENTS = re.compile(r"/api/v1/matches/([0-9]{1,18})/events", re.ASCII)
_SANE_ID = re.compile(rb"[A-Za-z0-9._:-]{1,64}")
_SECONDS = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?", re.ASCII)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_PROBLEMS = {
    "invalid": (400, "The input is not valid; errors says which fields and why."),
    "not-authenticated": (401, "This call needs a token."),
    "invalid-token": (401, "The token doesn't work: mistyped, revoked or replaced."),
    "bot-token-needed": (403, "This call needs a bot token."),
    "not-found": (404, "There is no such thing."),
    "method-not-allowed": (405, "The method is none of those in the Allow header."),
    "unavailable": (503, "The database can't be reached; try again soon."),
}
"""Those of the API's problem codes that these calls answer with, in its words."""


class ProblemError(Exception):
    """An answer that is a problem document (RFC 9457)."""

    def __init__(
        self, code: str, headers: Iterable[tuple[bytes, bytes]] = (), **members: Any
    ) -> None:
        self.code = code
        self.headers = list(headers)
        self.members = members
        super().__init__(code)


def find_bot(text: str) -> Bot:
    """Return the bot that plays by a token.

    Raises:
        ProblemError: the token does not work, or is not a bot's.
    """
    from league import accounts

    bot: Bot | None = accounts.bot_for_token(text)
    if bot is not None:
        return bot
    if accounts.owner_for_token(text) is not None:
        raise ProblemError("bot-token-needed")
    raise _unauthorised("invalid-token")


class WaitingApp:
    """The application; its crowds and threads live from startup to shutdown."""

    def __init__(self, identify: Callable[[str], Bot] = find_bot) -> None:
        self._identify = identify
        self._database: Database
        self._turns: Turns
        self._matches: Matches

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, or the server's start and end."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await _Request(scope, receive, send).answer(self._route)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._database = Database()
        self._turns = Turns(self._database)
        self._matches = Matches(self._database)
        try:
            async with Ears(settings.REDIS_URL, {TURNS: self._turns, MATCHES: self._matches}):
                await send({"type": "lifespan.startup.complete"})
                await receive()
        finally:
            self._database.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _route(self, request: "_Request") -> None:
        path = request.path.rstrip("/")
        watched = _EVENTS.fullmatch(path)
        if path not in (_TURNS, _STREAM) and not watched:
            raise ProblemError("not-found")
        if request.method != "GET":
            raise ProblemError("method-not-allowed", [(b"allow", b"GET")])
        if watched:
            await self._watch(request, int(watched[1]))
        elif path == _STREAM:
            await self._stream(request, await self._bot(request))
        else:
            bot = await self._bot(request)
            await self._poll(request, bot, request.seconds("wait", LONGEST_WAIT))

    async def _bot(self, request: "_Request") -> Bot:
        token = request.bearer_token()
        return await self._database.run(lambda: self._identify(token))

    async def _poll(self, request: "_Request", bot: Bot, seconds: float) -> None:
        """Answer at once if a turn is open, else when one opens or the time is over."""
        waiter = _Poll()
        self._turns.add(bot, waiter)
        try:
            turns: Sequence[OfferedTurn] | None = await self._database.open_turns(bot)
            if not turns and seconds:
                turns = await waiter.wait(seconds, request)
        finally:
            self._turns.remove(bot, waiter)
        if turns is not None:
            body = b"[" + b",".join(turn.body for turn in turns) + b"]"
            await request.respond(200, body, b"application/json")

    async def _stream(self, request: "_Request", bot: Bot) -> None:
        """Send each turn once as it opens, beginning with all that are open."""
        waiter = _Stream()
        self._turns.add(bot, waiter)
        try:
            # One door for what is open now and what opens later, so that neither overtakes.
            self._turns.wake([bot.pk])
            async with aclosing(request.events(waiter.news)) as woken:
                async for _ in woken:
                    if part := waiter.take():
                        await request.send_part(part)
        finally:
            self._turns.remove(bot, waiter)

    async def _watch(self, request: "_Request", match_id: int) -> None:
        """Send what the public may see of a match, phase by phase, from an event on."""
        if not await self._database.match_exists(match_id):
            raise ProblemError("not-found")
        last = request.header(b"last-event-id")
        if last == "end":  # nothing more will come: so told, a browser does not come back
            await request.respond(204, b"", b"text/event-stream")
            return
        news = asyncio.Event()
        watched = self._matches.add(match_id, news)
        try:
            sent = 0
            async with aclosing(request.events(news)) as woken:
                async for _ in woken:
                    news.clear()
                    fresh = watched.events[sent:]
                    sent += len(fresh)
                    if last in (ids := [event.id for event in fresh]):
                        fresh = fresh[ids.index(last) + 1 :]
                    await request.send_part(b"".join(event.body for event in fresh))
                    if watched.over and sent == len(watched.events):
                        await request.send_part(b"", more=False)
                        return
        finally:
            self._matches.remove(match_id, news)


class _Poll:
    """A request that waits for the first turns that are offered, the time's end, or its client."""

    __slots__ = ("_result",)
    insatiable = False

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._result: asyncio.Future[Sequence[OfferedTurn] | None] = loop.create_future()

    def offer(self, turns: Sequence[OfferedTurn]) -> None:
        self._end(turns)

    def _end(self, turns: Sequence[OfferedTurn] | None) -> None:
        if not self._result.done():
            self._result.set_result(turns)

    async def wait(self, seconds: float, request: "_Request") -> Sequence[OfferedTurn] | None:
        """Return turns, none at the end of the time, or None if the client has gone."""
        timer = asyncio.get_running_loop().call_later(seconds, self._end, ())
        gone = asyncio.create_task(request.disconnected())
        gone.add_done_callback(lambda _: self._end(None))
        try:
            return await self._result
        finally:
            timer.cancel()
            gone.cancel()


class _Stream:
    """A stream of turns, each sent once."""

    __slots__ = ("_open", "_sent", "news")
    insatiable = True

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self._open: Sequence[OfferedTurn] = ()
        self._sent: set[tuple[int, int]] = set()

    def offer(self, turns: Sequence[OfferedTurn]) -> None:
        self._open = turns
        self.news.set()

    def take(self) -> bytes:
        """Return the events of turns not sent yet."""
        self.news.clear()
        fresh = [turn for turn in self._open if turn.key not in self._sent]
        # What is no longer open need not be remembered.
        self._sent = {turn.key for turn in self._open}
        return b"".join(
            b"event: turn\nid: %d-%d\ndata: %b\n\n" % (*turn.key, turn.body) for turn in fresh
        )


class _Request:
    """One HTTP request and its response."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._query: bytes = scope["query_string"]
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._receive, self._send = receive, send
        self._started = False
        offered = self._headers.get(b"x-request-id", b"")
        sane = _SANE_ID.fullmatch(offered)
        self.request_id = offered if sane else secrets.token_hex(12).encode()

    async def answer(self, view: Callable[["_Request"], Awaitable[None]]) -> None:
        """Let a view respond; its problems become responses."""
        try:
            await view(self)
        except ProblemError as error:
            await self._respond_problem(error)
        except asyncio.CancelledError:
            # The server is ending. Who waited is told that nothing came, and asks again.
            if self._started:
                await self.send_part(b"", more=False)
            else:
                await self.respond(200, b"[]", b"application/json")
        except DatabaseError:
            if self._started:  # a stream: that it ends says the client is to come back
                raise
            await self._respond_problem(ProblemError("unavailable", [(b"retry-after", b"1")]))

    def bearer_token(self) -> str:
        """Return the token that came with the request, or raise a problem."""
        header = self._headers.get(b"authorization", b"").decode("latin-1")
        scheme, _, text = header.strip().partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            raise _unauthorised("not-authenticated")
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

    async def events(self, news: asyncio.Event) -> AsyncGenerator[None, None]:
        """Begin a stream of events, and go on whenever there are news until the client has gone.

        In between comments are sent, so that nobody takes the silence for a broken line.
        """
        gone = asyncio.create_task(self.disconnected())
        gone.add_done_callback(lambda _: news.set())
        try:
            await self.start(200, [(b"content-type", b"text/event-stream")])
            await self.send_part(b": connected\n\n")
            while not gone.done():
                try:
                    await asyncio.wait_for(news.wait(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    await self.send_part(b": keep-alive\n\n")
                else:
                    yield
        finally:
            gone.cancel()

    async def disconnected(self) -> None:
        """Return when the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Send the head of the response."""
        self._started = True
        always = [(b"x-request-id", self.request_id), (b"cache-control", b"no-store")]
        await self._send(
            {"type": "http.response.start", "status": status, "headers": [*headers, *always]}
        )

    async def send_part(self, part: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": part, "more_body": more})

    async def respond(
        self,
        status: int,
        body: bytes,
        content_type: bytes,
        headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        """Send a whole response."""
        length = str(len(body)).encode()
        await self.start(
            status, [(b"content-type", content_type), (b"content-length", length), *headers]
        )
        await self.send_part(body, more=False)

    async def _respond_problem(self, error: ProblemError) -> None:
        status, title = _PROBLEMS[error.code]
        document = {
            "type": f"/api/v1/docs/#{error.code}",
            "code": error.code,
            "title": title,
            "status": status,
            "detail": title,
            "request_id": self.request_id.decode("ascii"),
            **error.members,
        }
        body = json.dumps(document).encode()
        await self.respond(status, body, b"application/problem+json", error.headers)


def _unauthorised(code: str) -> ProblemError:
    return ProblemError(code, [(b"www-authenticate", b'Bearer realm="twelfth-night"')])


application = WaitingApp()
