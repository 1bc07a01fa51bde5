"""The gateway's database queries: those of turns on the event loop, others in a few threads."""

import asyncio
import json
from collections.abc import Sequence
from contextvars import Context
from datetime import datetime
from typing import Any, TypeVar

import structlog
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from api.play.connections import LoopConnections
from api.play.groups import Groups, in_threads
from api.play.requests import encode_event
from api.play.threads import ConnectedThreads
from league import play
from league.play.spectating import FeedEvent, MatchFeed
from league.play.statements import Run
from league.play.turn_statements import newest_open
from league.play.turns import AskingBot, HandedTurn, is_noted, note_all_seen

Result = TypeVar("Result")

log = structlog.get_logger(__name__)

THREADS = 4
WATCHING = 2
"""Threads that only read the events of matches, so that bots do not wait for spectators."""
TURN_GROUPS = 2
"""Groups of bots that get their open turns at a time."""
MAX_BOTS = 10
"""Bots of such a group. Its observations are made on the event loop."""
_TURNS_BETWEEN = 5
"""After so many turns, the event loop may do other work."""


class EncodedTurn:
    """An open turn as bytes to send, encoded once for all requests that wait for it.

    Attributes:
        key: the match's id and the turn's number.
        body: the turn as JSON.
    """

    __slots__ = ("body", "key")

    def __init__(self, turn: dict[str, Any]) -> None:
        self.key: tuple[int, int] = (turn["match"], turn["turn"])
        self.body = json.dumps(turn, separators=(",", ":")).encode()


class EncodedEvent:
    """An event of a match as bytes to send, encoded once for all spectators.

    Attributes:
        id: the event's id in the stream of its match, for ``Last-Event-ID``.
        kind: the name of the event.
        data: its data as JSON.
        body: the server-sent event in the stream of its match.
    """

    __slots__ = ("body", "data", "id", "kind")

    def __init__(self, event: FeedEvent) -> None:
        self.id, self.kind = event.id, event.kind
        self.data = json.dumps(event.data, separators=(",", ":")).encode()
        self.body = encode_event(event.kind, self.data, event.id)


class Database(ConnectedThreads):
    """Queries as coroutines."""

    def __init__(self) -> None:
        super().__init__(THREADS, "gateway-db")
        self._watching = ConnectedThreads(WATCHING, "gateway-watching")
        self._connections = LoopConnections(TURN_GROUPS)
        self._turns = Groups(self._start_hand_out, runs=TURN_GROUPS, max_items=MAX_BOTS)
        self._late = Groups(in_threads(self, _open_late), runs=1, max_items=MAX_BOTS)
        self._seen = Groups(in_threads(self, _note_all), runs=1)
        self._under_way: set[asyncio.Task[Any]] = set()

    async def aclose(self) -> None:
        """Cancel what is under way, end the threads, and close all connections."""
        for groups in (self._turns, self._late, self._seen):
            groups.close()
        while tasks := list(self._under_way):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._connections.close()
        self._watching.close()
        self.close()

    async def open_turns(self, bot: AskingBot) -> list[EncodedTurn]:
        """Hand out the open turns of a bot that asks for them, and note that it asks."""
        self.note_seen(bot)
        return await self.opened_turns(bot)

    async def opened_turns(self, bot: AskingBot) -> list[EncodedTurn]:
        """Hand out the open turns of a bot that waits: `newest_open` notes that it does."""
        turns = await self._turns.add(bot)
        return await self._late.add(bot) if turns is None else turns

    def note_seen(self, bot: AskingBot) -> None:
        """Note that a bot asks for turns. No request waits for this: the clocks of turns run."""
        now = timezone.now()
        if not is_noted(bot, now):
            bot.seen_at = now
            self._track(asyncio.create_task(self._note_seen(bot.pk)))

    async def _note_seen(self, bot_id: int) -> None:
        try:
            await self._seen.add(bot_id)
        except DatabaseError as error:
            log.warning("it could not be noted that a bot is online", error=str(error))

    def _track(self, task: asyncio.Task[Result]) -> asyncio.Task[Result]:
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    def _start_hand_out(
        self, bots: Sequence[AskingBot], context: Context
    ) -> asyncio.Task[Sequence[list[EncodedTurn] | None]]:
        return self._track(asyncio.create_task(self._hand_out(bots), context=context))

    async def _hand_out(self, bots: Sequence[AskingBot]) -> Sequence[list[EncodedTurn] | None]:
        """Hand out the open turns of bots in their order; None for a bot with an overdue turn."""
        ids = [bot.pk for bot in bots]

        async def work(run: Run) -> tuple[datetime, dict[int, list[HandedTurn]]]:
            now = timezone.now()  # here, because a work may run again later
            return now, await play.hand_out(ids, now, run)

        now, handed = await self._connections.do(work)
        encoded: dict[int, list[EncodedTurn]] = {}
        count = 0
        for pk, turns in handed.items():
            encoded[pk] = []
            for turn in turns:
                encoded[pk].append(EncodedTurn(turn.as_json(now)))
                count += 1
                if count % _TURNS_BETWEEN == 0:
                    await asyncio.sleep(0)
        return [encoded.get(pk) for pk in ids]

    async def new_events(self, feed: MatchFeed) -> list[EncodedEvent]:
        """Return the new events of a match."""
        read = self._watching.run
        return await read(lambda: [EncodedEvent(event) for event in feed.new_events()])

    async def newest_open(self, bot_ids: Sequence[int], *, seen: bool) -> dict[int, int]:
        """Return the newest open turn's id by bot, for bots that have an open turn.

        Args:
            bot_ids: bots with waiting requests.
            seen: also store that these bots are online.
        """

        def query() -> dict[int, int]:
            if seen:
                note_all_seen(list(bot_ids), timezone.now())
            return newest_open(bot_ids)

        return await self.run(query)


def check_database() -> None:
    """Read from the database.

    Raises:
        OperationalError, InterfaceError: it can't be reached.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _open_late(bots: Sequence[AskingBot]) -> list[list[EncodedTurn]]:
    """Hand out the turns of bots with an overdue turn, in their order; this may take longer."""
    found = play.open_turns_of(bots, timezone.now())
    encoded = {pk: [EncodedTurn(turn) for turn in turns] for pk, turns in found.items()}
    return [encoded[bot.pk] for bot in bots]


def _note_all(bot_ids: Sequence[int]) -> list[None]:
    """Note that bots ask for turns; return nothing for each, as a group does."""
    note_all_seen(list(bot_ids), timezone.now())
    return [None] * len(bot_ids)
