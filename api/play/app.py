"""``turns``, ``turns/stream``, ``matches/{id}/events``: the gateway's ASGI application.

Run it with ``uvicorn api.play.app:application``. Django answers the API's other calls.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - models need Django set up
from django.db import Error as DatabaseError  # noqa: E402
from redis.exceptions import RedisError  # noqa: E402
from starlette.convertors import IntegerConvertor, register_url_convertor  # noqa: E402
from starlette.routing import Match as RouteMatch  # noqa: E402
from starlette.routing import Route  # noqa: E402
from structlog.contextvars import bind_contextvars  # noqa: E402

from api.headers import PREFLIGHT  # noqa: E402
from api.play.database import Database, EncodedTurn, check_database  # noqa: E402
from api.play.hints import HintListener, Waiters  # noqa: E402
from api.play.requests import Message, Receive, Request, Send  # noqa: E402
from api.play.spectators import Spectators, WatchedMatch  # noqa: E402
from api.play.turn_waiters import PollWaiter, StreamWaiter, TurnWaiters  # noqa: E402
from api.play.waiting_limits import WaitingLimits  # noqa: E402
from api.problems import ProblemError  # noqa: E402
from api.tokens import find_token, needed_bot, token_text  # noqa: E402
from league import accounts, heartbeats  # noqa: E402
from league.accounts.throttles import client_by_bot  # noqa: E402
from league.models import Bot, Match  # noqa: E402
from league.play.wakeups import MATCHES, TURNS  # noqa: E402

MAX_WAIT_SECONDS = 30.0
KEEP_ALIVE_SECONDS = 15.0
ALIVE_SECONDS = 1.0
"""Time between two signs of life of this process."""

View = Callable[..., Awaitable[None]]


class _IdConvertor(IntegerConvertor):
    regex = "[0-9]{1,18}"  # no more than the database's integers hold


register_url_convertor("id", _IdConvertor())


def find_bot(authorization: str) -> Bot:
    """Return the bot whose token is in the header ``Authorization``.

    Raises:
        ProblemError: there is no token, it does not work, or it is not a bot's.
    """
    return needed_bot(find_token(authorization))


class Gateway:
    """The application.

    Args:
        identify: returns the bot for a header ``Authorization``, or raises a `ProblemError`.
    """

    def __init__(self, identify: Callable[[str], Bot] = find_bot) -> None:
        self._identify = identify
        self._waiting = WaitingLimits()
        self._routes = [
            Route("/api/v1/turns", self._poll),
            Route("/api/v1/turns/stream", self._stream),
            Route("/api/v1/matches/{match_id:id}/events", self._watch),
            Route("/healthz/turns", self._door),
        ]
        self._database: Database
        self._turns: TurnWaiters
        self._spectators: Spectators

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or run from the server's start to its end."""
        if scope["type"] == "lifespan":
            await self._run(receive, send)
        elif scope["type"] == "http":
            await Request(scope, receive, send).answer(self._route)

    async def _run(self, receive: Receive, send: Send) -> None:
        await receive()
        self._database = Database()
        self._turns = TurnWaiters(self._database)
        self._spectators = Spectators(self._database)
        waiters: dict[str, Waiters] = {TURNS: self._turns, MATCHES: self._spectators}
        alive = asyncio.create_task(_note_alive())
        try:
            async with HintListener(settings.REDIS_URL, waiters):
                await send({"type": "lifespan.startup.complete"})
                await receive()
        finally:
            alive.cancel()
            self._database.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _route(self, request: Request) -> None:
        view, parameters = self._find_view(request.path)
        if request.method == "OPTIONS":
            await request.respond(204, b"", "", {**PREFLIGHT, "Allow": "GET, OPTIONS"})
            return
        if request.method != "GET":
            raise ProblemError("method-not-allowed", headers={"Allow": "GET, OPTIONS"})
        await view(request, **parameters)

    def _find_view(self, path: str) -> tuple[View, dict[str, Any]]:
        """Return the view for a path and its parameters.

        Only the matching is Starlette's: each layer of its router would keep a coroutine, and so
        memory, for every request that waits.
        """
        scope = {"type": "http", "method": "GET", "path": path.rstrip("/")}
        for route in self._routes:
            match, found = route.matches(scope)
            if match is RouteMatch.FULL:
                return found["endpoint"], found["path_params"]
        raise ProblemError("not-found")

    async def _authenticate(self, request: Request) -> Bot:
        """Return the bot of the request's token, and count the request even if it is refused."""

        def identify() -> Bot:
            try:
                bot = self._identify(request.header(b"authorization"))
            except ProblemError:
                request.count("play", request.client)
                raise
            request.count("play", client_by_bot(bot.pk))
            return bot

        bot = await self._database.run(identify)
        bind_contextvars(bot=bot.name)
        return bot

    async def _check_token(self, request: Request) -> None:
        """Raise a problem if the token of a waiting request has stopped working."""
        header = request.header(b"authorization")
        text = token_text(header)
        await self._database.run(lambda: accounts.still_plays(text) or self._identify(header))

    async def _check_token_if_possible(self, request: Request) -> None:
        """Check the token, if the database can be reached: a stream outlasts an outage."""
        with suppress(DatabaseError):
            await self._check_token(request)

    async def _door(self, request: Request) -> None:
        """Respond if turns can be handed out; the clock probes it through the front."""
        try:
            await self._database.run(check_database)
        except DatabaseError:  # the clock logs the outage, once
            await request.respond(503, b"the database can't be reached", "text/plain")
        else:
            await request.respond(200, b"ok", "text/plain")

    async def _poll(self, request: Request) -> None:
        """Respond with the open turns: at once, when one opens, or with none after the time."""
        # The address counts first, because authentication itself may wait for a thread.
        with self._waiting.from_address(request.client, is_stream=False):
            bot = await self._authenticate(request)
            seconds = request.seconds("wait", MAX_WAIT_SECONDS)
            waiter = PollWaiter()
            with self._waiting.of_client(client_by_bot(bot.pk), is_stream=False):
                self._turns.add(bot, waiter)
                try:
                    turns: Sequence[EncodedTurn] | None = await self._database.open_turns(bot)
                    if not turns and seconds:
                        turns = await waiter.wait(seconds, request)
                        if turns:
                            await self._check_token(request)
                finally:
                    self._turns.remove(bot, waiter)
        if turns is not None:
            body = b'{"turns":[' + b",".join(turn.body for turn in turns) + b"]}"
            await request.respond(200, body, "application/json")

    async def _stream(self, request: Request) -> None:
        """Send each turn once as it opens, beginning with all open turns."""
        with self._waiting.from_address(request.client, is_stream=True):
            bot = await self._authenticate(request)
            request.query(())
            with self._waiting.of_client(client_by_bot(bot.pk), is_stream=True):
                await self._send_turns(request, bot)

    async def _send_turns(self, request: Request, bot: Bot) -> None:
        """Send the turns of a bot as they open, until the client disconnects."""
        waiter = StreamWaiter()

        async def check() -> None:
            await self._check_token_if_possible(request)

        self._turns.add(bot, waiter)
        try:
            # Open turns and later ones come by the same way, so neither overtakes the other.
            self._turns.wake([bot.pk])
            events = request.stream(waiter.changed, KEEP_ALIVE_SECONDS, check)
            async with aclosing(events) as woken:
                async for _ in woken:
                    if part := waiter.take_events():
                        await check()
                        await request.send_part(part)
        finally:
            self._turns.remove(bot, waiter)

    async def _watch(self, request: Request, match_id: int) -> None:
        """Send the public view of a match, phase by phase, from its start or after an event."""
        bind_contextvars(match_id=match_id)
        request.query(())

        def exists() -> bool:
            request.count("general", request.client)
            return Match.objects.filter(pk=match_id).exists()

        with (
            self._waiting.from_address(request.client, is_stream=True),
            self._waiting.of_client(request.client, is_stream=False),
        ):
            if not await self._database.run(exists):
                raise ProblemError("not-found", f"There is no match {match_id}.")
            last_id = request.header(b"last-event-id")
            if last_id == "end":  # 204 keeps a browser from connecting again
                await request.respond(204, b"", "text/event-stream")
                return
            changed = asyncio.Event()
            match = self._spectators.add(match_id, changed)
            try:
                await self._send_events(request, match, changed, last_id)
            finally:
                self._spectators.remove(match_id, changed)

    async def _send_events(
        self, request: Request, match: WatchedMatch, changed: asyncio.Event, last_id: str
    ) -> None:
        """Send the events of a match after one with a given id, until the last event."""
        sent = 0
        async with aclosing(request.stream(changed, KEEP_ALIVE_SECONDS, None)) as woken:
            async for _ in woken:
                changed.clear()
                unsent = match.events[sent:]
                sent += len(unsent)
                if last_id in (ids := [event.id for event in unsent]):
                    unsent = unsent[ids.index(last_id) + 1 :]
                await request.send_part(b"".join(event.body for event in unsent))
                if match.over and sent == len(match.events):
                    await request.send_part(b"", more=False)
                    return


async def _note_alive() -> None:
    """Store a sign of life for `/readyz` each second."""
    while True:
        with suppress(RedisError):  # the cache may be away
            await asyncio.to_thread(heartbeats.note_part, "gateway")
        await asyncio.sleep(ALIVE_SECONDS)


application = Gateway()
