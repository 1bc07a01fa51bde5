"""The streams of revisions, for pages that follow the waiting room of a table or a tournament.

They belong to the pages, not to the API (docs/decisions/0099): their paths are
``/play/{code}/events`` and ``/tournaments/{id}/events``.
"""

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import aclosing
from typing import Generic, TypeVar

import structlog
from django.db import Error as DatabaseError
from django.utils import timezone

from api.play.database import Database
from api.play.requests import Request, encode_event
from api.play.waiting_limits import WaitingLimits
from api.problems import ProblemError
from league.competitions.revisions import table_revisions, tournament_revisions

log = structlog.get_logger(__name__)

Key = TypeVar("Key")


class Revisions(Generic[Key]):
    """All requests that follow revisions of one kind: `Waiters` for `api.play.wakeup_listener`.

    One reading is for all of them, once a second. Without such a request nothing is read.

    Args:
        database: runs the reading.
        read: returns the revisions of things by their keys, without those that do not exist.
    """

    def __init__(
        self, database: Database, read: Callable[[Collection[Key]], Mapping[Key, str]]
    ) -> None:
        self._database, self._read = database, read
        self._streams: dict[Key, set[asyncio.Event]] = {}
        self._newest: dict[Key, str] = {}
        self._reading: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Cancel the queries under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def wake(self, ids: Iterable[int]) -> None:
        """Do nothing: joins and hosted matches send no wake-up, and live matches one a move."""

    async def refresh(self) -> None:
        """Read the revisions that requests follow."""
        if self._streams and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read_all())

    async def send(self, request: Request, key: Key) -> None:
        """Send the revision of a thing, and each new one, until the client leaves.

        Raises:
            ProblemError: ``not-found``: the thing does not exist.
        """
        found = await self._database.run(lambda: self._read([key]))
        if key not in found:
            raise ProblemError("not-found")
        changed = asyncio.Event()
        self._streams.setdefault(key, set()).add(changed)
        self._newest.setdefault(key, found[key])
        sent = None
        changed.set()
        try:
            async with aclosing(request.stream(changed)) as woken:
                async for _ in woken:
                    changed.clear()
                    newest = self._newest[key]
                    if newest != sent:
                        sent = newest
                        await request.send_part(_event(newest))
        finally:
            self._streams[key].discard(changed)
            if not self._streams[key]:
                del self._streams[key], self._newest[key]

    async def _read_all(self) -> None:
        try:
            keys = list(self._streams)
            found = await self._database.run(lambda: self._read(keys))
        except DatabaseError as error:  # the next refresh tries again
            log.warning("the revisions could not be read", error=str(error))
            return
        for key in keys:
            newest = found.get(key, "")
            if key in self._streams and newest != self._newest[key]:
                self._newest[key] = newest
                for changed in self._streams[key]:
                    changed.set()


class RevisionCalls:
    """The calls.

    Args:
        waiting: bounds the streams of an address.
        database: finds the revisions.
    """

    def __init__(self, waiting: WaitingLimits, database: Database) -> None:
        self._waiting = waiting
        self.tables = Revisions[str](database, _tables)
        self.tournaments = Revisions[int](database, tournament_revisions)

    async def table(self, request: Request, code: str) -> None:
        """Send the revisions of a table's waiting room; only who has its link knows the code."""
        await self._send(request, self.tables, code)

    async def tournament(self, request: Request, pk: int) -> None:
        """Send the revisions of a tournament."""
        await self._send(request, self.tournaments, pk)

    async def _send(self, request: Request, revisions: Revisions[Key], key: Key) -> None:
        request.query(())
        with (
            self._waiting.from_address(request.client, is_stream=True),
            self._waiting.of_client(request.client, is_stream=False),
        ):
            await request.count("general", request.client)
            await revisions.send(request, key)


def _tables(codes: Collection[str]) -> Mapping[str, str]:
    return table_revisions(codes, timezone.now())


def _event(revision: str) -> bytes:
    return encode_event("revision", json.dumps({"revision": revision}).encode())
