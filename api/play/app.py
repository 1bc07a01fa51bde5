"""A bot's own calls: the gateway's ASGI application.

These are ``turns``, ``turns/stream``, ``matches/{id}/moves``, ``moves`` and, for spectators,
``matches/{id}/events`` and ``matches/events``. ``/tv/events``, ``/play/{code}/events`` and
``/tournaments/{id}/events`` are for pages. Run it with ``uvicorn api.play.app:application``. Django
answers the API's other calls.
"""

import asyncio
import gc
import os
import random
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

import django
from asgiref.sync import markcoroutinefunction

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - models need Django set up
from django.db import Error as DatabaseError  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402
from redis.exceptions import RedisError  # noqa: E402
from starlette.convertors import IntegerConvertor, register_url_convertor  # noqa: E402
from starlette.routing import Match as RouteMatch  # noqa: E402
from starlette.routing import Route  # noqa: E402
from structlog.contextvars import bind_contextvars  # noqa: E402

from api.bounds import is_known_host, unknown_host  # noqa: E402
from api.headers import PREFLIGHT  # noqa: E402
from api.play.beginnings import BeginningCalls, Beginnings  # noqa: E402
from api.play.database import Database, EncodedTurn, check_database  # noqa: E402
from api.play.groups import Groups, in_threads  # noqa: E402
from api.play.moves import MoveCalls  # noqa: E402
from api.play.refused_writes import refused_writes  # noqa: E402
from api.play.requests import Message, Receive, Request, Send  # noqa: E402
from api.play.revisions import RevisionCalls  # noqa: E402
from api.play.spectators import Spectators  # noqa: E402
from api.play.threads import call_in_thread  # noqa: E402
from api.play.turn_waiters import (  # noqa: E402
    PollEnds,
    PollWaiter,
    StreamWaiter,
    TurnWaiters,
    WaitingBot,
)
from api.play.waiting_limits import WaitingLimits  # noqa: E402
from api.play.wakeup_listener import Waiters, WakeupListener  # noqa: E402
from api.play.watching import WatchCalls  # noqa: E402
from api.problems import (  # noqa: E402
    PREFIX,
    ProblemError,
    method_not_allowed,
    slash_too_many,
)
from api.tokens import needed_bot, token_text, working_token  # noqa: E402
from league import accounts, heartbeats, processes  # noqa: E402
from league.accounts.throttles import client_by_bot, client_by_token  # noqa: E402
from league.models import Bot, Token  # noqa: E402
from league.play.statements import plan_by_index  # noqa: E402
from league.play.wakeups import MATCHES, TURNS  # noqa: E402

MAX_WAIT_SECONDS = 30.0
STREAM_SECONDS = 300.0
"""How long a stream of turns lasts. A machine that falls asleep leaves its connection open for many
minutes; so long its bots would count as online."""
ALIVE_SECONDS = 2.0
"""Time between two heartbeats of this process."""

COLLECT_AFTER = (20_000, 20, 50)
"""Thresholds of the garbage collector. With Python's own, its runs delay one turn in a hundred by 5
to 8 ms (`benchmarks/turns_way.py`); a higher one leaves some megabytes of garbage longer."""

View = Callable[..., Awaitable[None]]

connection_created.connect(plan_by_index)


class _IdConvertor(IntegerConvertor):
    regex = "[0-9]{1,4300}"  # Python converts no longer ones


register_url_convertor("id", _IdConvertor())


class _Call(NamedTuple):
    """A call: its method, and the route to the view that answers it."""

    method: str
    route: Route


class Gateway:
    """The application.

    Args:
        find_tokens: returns tokens by their text, without those that don't work.
    """

    def __init__(
        self, find_tokens: Callable[[Collection[str]], dict[str, Token]] = accounts.find_tokens
    ) -> None:
        self._find_tokens = find_tokens
        self._waiting = WaitingLimits()
        self._database: Database
        self._tokens: Groups[str, Token | None]
        self._still_playing: Groups[str, bool]
        self._turns: TurnWaiters
        self._poll_ends: PollEnds
        self._spectators: Spectators
        self._moves: MoveCalls
        self._calls: Sequence[_Call] = ()

    # Each coroutine between the server and a request that waits takes 0.3 kB for each waiter. So
    # this method and `_route` return the next one's, and do not await it. A server takes a method
    # without the mark for one of ASGI 2.
    @markcoroutinefunction
    def __call__(self, scope: Message, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer a request, or run from the server's start to its end."""
        if scope["type"] == "lifespan":
            return self._run(receive, send)
        return Request(scope, receive, send).answer(self._route)

    async def _run(self, receive: Receive, send: Send) -> None:
        await receive()
        self._database = Database()
        self._tokens = Groups(in_threads(self._database, self._read_tokens), runs=1)
        self._still_playing = Groups(in_threads(self._database, _still_play), runs=1)
        self._turns = TurnWaiters(self._database)
        self._poll_ends = PollEnds()
        self._spectators = Spectators(self._database)
        self._moves = MoveCalls(self._authenticate, self._database, self._turns.wake)
        beginnings = Beginnings(self._database)
        revisions = RevisionCalls(self._waiting, self._database)
        watching = WatchCalls(self._waiting, self._database, self._spectators)
        self._calls = [
            _Call("POST", Route("/api/v1/matches/{match_id:id}/moves", self._moves.move)),
            _Call("POST", Route("/api/v1/moves", self._moves.move_all)),
            _Call("GET", Route("/api/v1/turns", self._poll)),
            _Call("GET", Route("/api/v1/turns/stream", self._stream)),
            _Call("GET", Route("/api/v1/matches/{match_id:id}/events", watching.match)),
            _Call("GET", Route("/api/v1/matches/events", watching.matches)),
            _Call("GET", Route("/tv/events", BeginningCalls(self._waiting, beginnings).stream)),
            _Call("GET", Route("/play/{code}/events", revisions.table)),
            _Call("GET", Route("/tournaments/{pk:id}/events", revisions.tournament)),
            _Call("GET", Route("/healthz/play", self._door)),
        ]
        waiters: dict[str, list[Waiters]] = {
            TURNS: [self._turns],
            MATCHES: [self._spectators, beginnings, revisions.tables, revisions.tournaments],
        }
        alive = asyncio.create_task(_note_alive())
        # What is loaded by now stays, so the collector need not go through it again.
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
        try:
            async with WakeupListener(settings.REDIS_URL, waiters):
                await send({"type": "lifespan.startup.complete"})
                await receive()
        finally:
            alive.cancel()
            await self._moves.queue.close()
            await self._database.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    def _route(self, request: Request) -> Awaitable[None]:
        is_api = request.path.startswith(PREFIX)
        if is_api and not is_known_host(request.header(b"host")):
            raise unknown_host(request.header(b"host"))
        method, view, parameters, request.route = self._find_call(request.path)
        allowed = {"Allow": f"{method}, OPTIONS"}
        if is_api and settings.SECURE_SSL_REDIRECT and not request.is_secure:
            return request.redirect_to_tls()
        if request.method == "OPTIONS":
            return request.respond(204, b"", "", {**PREFLIGHT, **allowed})
        if request.method != method:
            detail = method_not_allowed(request.method, [method])
            raise ProblemError("method-not-allowed", detail, headers=allowed)
        return view(request, **parameters)

    def _find_call(self, path: str) -> tuple[str, View, dict[str, Any], str]:
        """Return the method, the view, the path's parameters and the pattern of a path's call.

        Only the matching is Starlette's: each layer of its router would keep a coroutine, and so
        memory, for every request that waits.
        """
        if "\0" in path:  # PostgreSQL can't search for it
            raise ProblemError("not-found")
        bare = path.rstrip("/")
        scope = {"type": "http", "method": "GET", "path": bare}
        for method, route in self._calls:
            match, found = route.matches(scope)
            if match is RouteMatch.FULL:
                if bare != path and method != "GET":
                    raise ProblemError("not-found", slash_too_many(path))
                return method, found["endpoint"], found["path_params"], route.path
        raise ProblemError("not-found")

    def _read_tokens(self, texts: Sequence[str]) -> list[Token | None]:
        found = self._find_tokens(texts)
        return [found.get(text) for text in texts]

    async def _authenticate(self, request: Request) -> Bot:
        """Return the bot of the request's token, and count the request even if it is refused."""
        text = token_text(request.header(b"authorization"))
        token = accounts.remembered_token(text)
        if token is None and text:
            token = await self._tokens.add(text)
        await request.count("play", client_by_token(token) if token else request.client)
        bot = needed_bot(working_token(text, token), request.header(b"authorization"))
        bind_contextvars(bot=bot.name)
        return bot

    async def _check_token(self, request: Request) -> None:
        """Raise a problem if the token of a waiting request has stopped working."""
        text = token_text(request.header(b"authorization"))
        if accounts.remembered_token(text) or time.monotonic() < request.token_read_until:
            return
        began = time.monotonic()
        if not await self._still_playing.add(text):
            needed_bot(working_token(text, await self._tokens.add(text)))
        request.token_read_until = began + accounts.REMEMBERED_SECONDS

    async def _check_token_if_possible(self, request: Request) -> None:
        """Check the token, if the database can be reached: a stream outlasts an outage."""
        with suppress(DatabaseError):
            await self._check_token(request)

    async def _door(self, request: Request) -> None:
        """Respond if turns can be handed out and moves be made; the clock probes it."""
        try:
            await asyncio.gather(self._database.run(check_database), self._moves.queue.check())
            refused_writes.check()
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
            waiter, waiting_bot = PollWaiter(), WaitingBot.of(bot)
            with self._waiting.of_client(client_by_bot(bot.pk), is_stream=False):
                self._turns.add(waiting_bot, waiter)
                try:
                    turns: Sequence[EncodedTurn] | None = await self._database.open_turns(bot)
                    waiting_bot.seen_at = bot.seen_at
                    del bot
                    if not turns and seconds:
                        request.forget_headers(but=(b"authorization", b"x-forwarded-proto"))
                        turns = await waiter.wait(seconds, request, self._poll_ends)
                        if turns:
                            await self._check_token(request)
                finally:
                    self._turns.remove(waiting_bot, waiter)
        if turns is not None:
            body = b'{"turns":[' + b",".join(turn.body for turn in turns) + b"]}"
            await request.respond(200, body, "application/json")

    async def _stream(self, request: Request) -> None:
        """Send each turn once as it opens, beginning with all open turns."""
        with self._waiting.from_address(request.client, is_stream=True):
            bot = WaitingBot.of(await self._authenticate(request))
            request.query(())
            with self._waiting.of_client(client_by_bot(bot.pk), is_stream=True):
                await self._send_turns(request, bot)

    async def _send_turns(self, request: Request, bot: WaitingBot) -> None:
        """Send the turns of a bot as they open, for `STREAM_SECONDS`.

        Then its client connects again. The next stream begins with all open turns, so none is lost
        in between.
        """
        waiter = StreamWaiter()

        async def check() -> None:
            await self._check_token_if_possible(request)

        self._turns.add(bot, waiter)
        try:
            # Open turns and later ones come by the same way, so neither overtakes the other.
            self._turns.wake([bot.pk])
            self._database.note_seen(bot)
            # A bit less for some, so that not all connect again in one moment.
            seconds = STREAM_SECONDS * random.uniform(0.8, 1)
            events = request.stream(waiter.changed, check, max_seconds=seconds)
            async with aclosing(events) as woken:
                async for _ in woken:
                    if part := waiter.take_events():
                        await check()
                        await request.send_part(part)
            await request.send_part(b"", more=False)
        finally:
            self._turns.remove(bot, waiter)


def _still_play(texts: Sequence[str]) -> list[bool]:
    working = accounts.still_play(texts)
    return [text in working for text in texts]


async def _note_alive() -> None:
    """Store a heartbeat for `/readyz` every two seconds."""
    name = processes.named("gateway")

    def note() -> None:
        heartbeats.note_part("gateway")
        processes.note(name)

    while True:
        with suppress(RedisError):  # the cache may be away
            await call_in_thread(note)
        await asyncio.sleep(ALIVE_SECONDS)


application = Gateway()
