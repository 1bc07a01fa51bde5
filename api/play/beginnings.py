"""The stream of live matches that begin, for pages that wait for one to show.

It belongs to the pages, not to the API (docs/decisions/0093): its path is ``/tv/events``.
"""

import asyncio
import json
from collections.abc import Iterable
from contextlib import aclosing

import structlog
from django.db import Error as DatabaseError

from api.play.database import Database
from api.play.requests import Request, encode_event
from api.play.waiting_limits import WaitingLimits
from league.play.spectating import live_now

log = structlog.get_logger(__name__)

_MOST_KNOWN = 10_000
"""So many matches with a wake-up are remembered, so that a move in one of them costs no query."""


class Beginnings:
    """All requests that wait for live matches: `Waiters` for `api.play.wakeup_listener`.

    They share one list, and one query reads it for all of them. Without such a request nothing is
    read.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._streams: set[asyncio.Event] = set()
        self._live: list[int] = []
        self._known: set[int] = set()
        self._reading: asyncio.Task[None] | None = None
        self._read_again = False

    async def close(self) -> None:
        """Cancel the query under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def wake(self, ids: Iterable[int]) -> None:
        """Read the live matches if one of these matches has had no wake-up before."""
        new = set(ids) - self._known
        if new and self._streams:
            self._known = new if len(self._known) > _MOST_KNOWN else self._known | new
            self._read()

    async def refresh(self) -> None:
        """Read the live matches: a wake-up may have been lost."""
        if self._streams:
            self._read()

    async def send(self, request: Request) -> None:
        """Send an event for each live match, and for each that begins, until the client leaves."""
        changed = asyncio.Event()
        self._streams.add(changed)
        sent: set[int] = set()
        try:
            self._read()
            changed.set()
            async with aclosing(request.stream(changed)) as woken:
                async for _ in woken:
                    changed.clear()
                    live = list(self._live)
                    new = [match for match in live if match not in sent]
                    sent = set(live)
                    if new:
                        await request.send_part(b"".join(map(_begin, new)))
        finally:
            self._streams.discard(changed)

    def _read(self) -> None:
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_live())
        else:
            self._read_again = True

    async def _read_live(self) -> None:
        self._read_again = True
        while self._read_again:
            self._read_again = False
            try:
                live = await self._database.run(live_now)
            except DatabaseError as error:  # the next refresh tries again
                log.warning("the live matches could not be read", error=str(error))
                return
            if live != self._live:
                self._live = live
                for changed in self._streams:
                    changed.set()


class BeginningCalls:
    """The call.

    Args:
        waiting: bounds the streams of an address.
        beginnings: hold the live matches.
    """

    def __init__(self, waiting: WaitingLimits, beginnings: Beginnings) -> None:
        self._waiting, self._beginnings = waiting, beginnings

    async def stream(self, request: Request) -> None:
        """Send the live matches that spectators may watch, as they begin."""
        request.query(())
        with (
            self._waiting.from_address(request.client, is_stream=True),
            self._waiting.of_client(request.client, is_stream=False),
        ):
            await request.count("general", request.client)
            await self._beginnings.send(request)


def _begin(match: int) -> bytes:
    return encode_event("begin", json.dumps({"match": match}).encode())
