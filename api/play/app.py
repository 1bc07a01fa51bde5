"""``turns``, ``turns/stream`` and ``matches/{id}/events``: the ASGI application.

Run it with ``uvicorn api.play.app:application``. Everything else of the API is Django's.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - models need Django set up
from django.db import Error as DatabaseError  # noqa: E402

from api.play.database import Database, OfferedTurn  # noqa: E402
from api.play.hints import Ears  # noqa: E402
from api.play.requests import (  # noqa: E402
    Message,
    ProblemError,
    Receive,
    Request,
    Send,
    unauthorised,
)
from api.play.waiting_turns import Turns  # noqa: E402
from api.play.watched_matches import Matches  # noqa: E402
from league import accounts  # noqa: E402
from league.models import Bot, Match  # noqa: E402
from league.play.wakeups import MATCHES, TURNS  # noqa: E402

MAX_WAIT_SECONDS = 30.0
KEEP_ALIVE_SECONDS = 15.0

_TURNS = "/api/v1/turns"
_STREAM = "/api/v1/turns/stream"
_EVENTS = re.compile(r"/api/v1/matches/([0-9]{1,18})/events", re.ASCII)


def find_bot(text: str) -> Bot:
    """Return the bot that plays by a token.

    Raises:
        ProblemError: the token does not work, or is not a bot's.
    """
    bot: Bot | None = accounts.bot_for_token(text)
    if bot is not None:
        return bot
    if accounts.owner_for_token(text) is not None:
        raise ProblemError("bot-token-needed")
    raise unauthorised("invalid-token")


class WaitingApp:
    """The application; its crowds and threads live from startup to shutdown."""

    def __init__(self, identify: Callable[[str], Bot] = find_bot) -> None:
        self._identify = identify
        self._held: Counter[str] = Counter()
        self._database: Database
        self._turns: Turns
        self._matches: Matches

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, or the server's start and end."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await Request(scope, receive, send).answer(self._route)

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

    async def _route(self, request: Request) -> None:
        path = request.path.rstrip("/")
        watched = _EVENTS.fullmatch(path)
        if path not in (_TURNS, _STREAM) and not watched:
            raise ProblemError("not-found")
        if request.method != "GET":
            raise ProblemError("method-not-allowed", [(b"allow", b"GET")])
        if watched:
            with self._held_for(request.visitor):
                await self._watch(request, int(watched[1]))
            return
        bot = await self._bot(request)
        with self._held_for(f"bot:{bot.pk}"):
            if path == _STREAM:
                await self._stream(request, bot)
            else:
                await self._poll(request, bot, request.seconds("wait", MAX_WAIT_SECONDS))

    async def _bot(self, request: Request) -> Bot:
        """Return who asks, and count the request, whatever is answered."""

        def look() -> Bot:
            try:
                bot = self._identify(request.bearer_token())
            except ProblemError:
                request.count("play", request.visitor)
                raise
            request.count("play", f"bot:{bot.pk}")
            return bot

        return await self._database.run(look)

    async def _check(self, request: Request) -> None:
        """Raise a problem if the token of a request that waits has stopped working meanwhile."""
        token = request.bearer_token()
        await self._database.run(lambda: accounts.still_plays(token) or self._identify(token))

    async def _check_if_possible(self, request: Request) -> None:
        """Do as `_check`, but let a stream outlast the database's being away."""
        with suppress(DatabaseError):
            await self._check(request)

    @contextmanager
    def _held_for(self, who: str) -> Iterator[None]:
        """Let a request wait, unless too many of this bot or address do already."""
        if self._held[who] >= settings.MAX_WAITING:
            detail = f"{self._held[who]} requests wait here already; that is the most."
            raise ProblemError("too-many-requests", [(b"retry-after", b"5")], detail=detail)
        self._held[who] += 1
        try:
            yield
        finally:
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]

    async def _poll(self, request: Request, bot: Bot, seconds: float) -> None:
        """Answer at once if a turn is open, else when one opens or the time is over."""
        waiter = _Poll()
        self._turns.add(bot, waiter)
        try:
            turns: Sequence[OfferedTurn] | None = await self._database.open_turns(bot)
            if not turns and seconds:
                turns = await waiter.wait(seconds, request)
                if turns:
                    await self._check(request)
        finally:
            self._turns.remove(bot, waiter)
        if turns is not None:
            body = b"[" + b",".join(turn.body for turn in turns) + b"]"
            await request.respond(200, body, b"application/json")

    async def _stream(self, request: Request, bot: Bot) -> None:
        """Send each turn once as it opens, beginning with all that are open."""
        waiter = _Stream()
        self._turns.add(bot, waiter)

        async def check() -> None:
            await self._check_if_possible(request)

        try:
            # One door for what is open now and what opens later, so that neither overtakes.
            self._turns.wake([bot.pk])
            async with aclosing(request.events(waiter.news, KEEP_ALIVE_SECONDS, check)) as woken:
                async for _ in woken:
                    if part := waiter.take():
                        await check()
                        await request.send_part(part)
        finally:
            self._turns.remove(bot, waiter)

    async def _watch(self, request: Request, match_id: int) -> None:
        """Send what the public may see of a match, phase by phase, from an event on."""

        def look() -> bool:
            request.count("general", request.visitor)
            return Match.objects.filter(pk=match_id).exists()

        if not await self._database.run(look):
            raise ProblemError("not-found")
        last = request.header(b"last-event-id")
        if last == "end":  # nothing more will come: so told, a browser does not come back
            await request.respond(204, b"", b"text/event-stream")
            return
        news = asyncio.Event()
        watched = self._matches.add(match_id, news)
        try:
            sent = 0
            async with aclosing(request.events(news, KEEP_ALIVE_SECONDS, None)) as woken:
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

    async def wait(self, seconds: float, request: Request) -> Sequence[OfferedTurn] | None:
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


application = WaitingApp()
