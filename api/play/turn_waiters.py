"""Requests of this process that wait for turns: `Waiters` for `api.play.wakeup_listener`."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import structlog
from django.db import Error as DatabaseError

from api.play.database import Database, EncodedTurn
from api.play.requests import DISCONNECT, Request, encode_event
from league.models import Bot

log = structlog.get_logger(__name__)

REFRESHES_PER_SEEN = 15
"""Every so many refreshes, the waiting bots are stored as online."""


class TurnWaiter(Protocol):
    """A request that waits for turns of one bot.

    Attributes:
        keeps_waiting: whether it goes on waiting after it has received turns.
    """

    keeps_waiting: bool

    def receive(self, turns: Sequence[EncodedTurn]) -> None:
        """Receive all open turns of the bot, at least one."""


class PollEnds:
    """Ends the waits of long polls when their time is over, in steps of `STEP_SECONDS`.

    A timer for each request would take 0.7 kB.
    """

    STEP_SECONDS = 0.1

    def __init__(self) -> None:
        self._waiters: dict[int, set[PollWaiter]] = {}
        """By the number of the step, from the start of the event loop's clock."""

    def add(self, waiter: "PollWaiter", seconds: float) -> int:
        """End a wait after these seconds, or up to a step later; return the step's number."""
        loop = asyncio.get_running_loop()
        step = math.ceil((loop.time() + seconds) / self.STEP_SECONDS)
        if step not in self._waiters:
            self._waiters[step] = set()
            loop.call_at(step * self.STEP_SECONDS, self._end, step)
        self._waiters[step].add(waiter)
        return step

    def remove(self, waiter: "PollWaiter", step: int) -> None:
        """Forget a waiter, whose wait may have ended."""
        if step in self._waiters:
            self._waiters[step].discard(waiter)

    def _end(self, step: int) -> None:
        for waiter in self._waiters.pop(step):
            waiter.receive(())


class PollWaiter:
    """A long poll: waits for the first turns, the end of its time, or its client's disconnect."""

    __slots__ = ("_task", "_turns")
    keeps_waiting = False

    def __init__(self) -> None:
        self._turns: Sequence[EncodedTurn] | None = None
        self._task: asyncio.Task[Any] | None = None
        """The task of the request while it waits."""

    def receive(self, turns: Sequence[EncodedTurn]) -> None:
        """End the wait with these turns."""
        if self._turns is None:
            self._turns = turns
            if self._task:
                self._task.cancel()

    async def wait(
        self, seconds: float, request: Request, ends: PollEnds
    ) -> Sequence[EncodedTurn] | None:
        """Return turns, none at the end of the time, or None if the client disconnects.

        The request's task itself waits for the disconnect, and turns cancel that as a timeout does.
        A second task for each request would take 1 kB more, a coroutine for the loop 0.2 kB.
        """
        step = ends.add(self, seconds)
        self._task = task = asyncio.current_task()
        try:
            if self._turns is None:
                while (await request.receive())["type"] != DISCONNECT:
                    pass
        except asyncio.CancelledError:
            if not self._has_ended() or (task and task.uncancel()):
                raise  # the server stops
        finally:
            self._task = None
            ends.remove(self, step)
        return self._turns

    def _has_ended(self) -> bool:
        return self._turns is not None


class StreamWaiter:
    """A stream: receives turns as they open, and sends each turn once.

    Attributes:
        changed: set when there may be a turn to send.
    """

    __slots__ = ("_open", "_sent", "changed")
    keeps_waiting = True

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self._open: Sequence[EncodedTurn] = ()
        self._sent: set[tuple[int, int]] = set()

    def receive(self, turns: Sequence[EncodedTurn]) -> None:
        """Note the turns for the next `take_events`."""
        self._open = turns
        self.changed.set()

    def take_events(self) -> bytes:
        """Return the events of the turns that have not been sent yet."""
        self.changed.clear()
        unsent = [turn for turn in self._open if turn.key not in self._sent]
        # A turn that is no longer open never comes again.
        self._sent = {turn.key for turn in self._open}
        return b"".join(
            encode_event("turn", turn.body, "-".join(map(str, turn.key))) for turn in unsent
        )


@dataclass(slots=True)
class WaitingBot:
    """A bot of waiting requests. Its row with its owner and version would take 2 kB more.

    Attributes:
        pk: the bot's id.
        name: of the bot.
        seen_at: when it was last noted that the bot asked for turns.
    """

    pk: int
    name: str
    seen_at: datetime | None

    @classmethod
    def of(cls, bot: Bot) -> "WaitingBot":
        """Return a bot without what waiting does not need."""
        return cls(bot.pk, bot.name, bot.seen_at)


@dataclass(slots=True)
class _BotEntry:
    bot: WaitingBot
    waiters: list[TurnWaiter] = field(default_factory=list)
    """Few; a set would take 0.15 kB more."""
    newest_turn: int = 0
    reading: asyncio.Task[None] | None = None
    read_again: bool = False


class TurnWaiters:
    """All requests that wait for turns; one query refreshes all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._entries: dict[int, _BotEntry] = {}
        self._refreshes = 0
        self._is_closed = False

    async def close(self) -> None:
        """Cancel the queries under way; wake nobody any more."""
        self._is_closed = True
        reading = [entry.reading for entry in self._entries.values() if entry.reading]
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    def __len__(self) -> int:
        return sum(len(entry.waiters) for entry in self._entries.values())

    def add(self, bot: WaitingBot, waiter: TurnWaiter) -> None:
        """Register a waiter. Read the database only after this, so that no turn is missed."""
        self._entries.setdefault(bot.pk, _BotEntry(bot)).waiters.append(waiter)

    def remove(self, bot: WaitingBot, waiter: TurnWaiter) -> None:
        """Remove a waiter."""
        entry = self._entries.get(bot.pk)
        if entry is not None:
            entry.waiters.remove(waiter)
            if not entry.waiters:
                del self._entries[bot.pk]

    def wake(self, ids: Iterable[int]) -> None:
        """Pass these bots' open turns to their waiters: one query per bot."""
        for bot_id in ids:
            entry = self._entries.get(bot_id)
            if entry is None or self._is_closed:
                continue
            if entry.reading is None or entry.reading.done():
                # In a new context, so that the log does not have the ids of the request that wakes.
                reading = self._read_turns(entry)
                entry.reading = asyncio.create_task(reading, context=Context())
            else:
                entry.read_again = True

    async def _read_turns(self, entry: _BotEntry) -> None:
        entry.read_again = True
        while entry.read_again:
            entry.read_again = False
            try:
                turns = await self._database.opened_turns(entry.bot)
            except Exception as error:
                entry.newest_turn = 0  # so that the next refresh tries again
                about = {"bot": entry.bot.name, "error": str(error)}
                if isinstance(error, DatabaseError):
                    log.warning("the turns of a bot could not be read", **about)
                else:
                    log.exception("the turns of a bot could not be read", **about)
                return
            if turns:
                for waiter in list(entry.waiters):
                    waiter.receive(turns)

    async def refresh(self) -> None:
        """Wake the requests that have missed a wake-up; regularly store their bots as online."""
        if not self._entries:
            return
        self._refreshes += 1
        newest = await self._database.newest_open(
            list(self._entries), seen=self._refreshes % REFRESHES_PER_SEEN == 0
        )
        self.wake(bot_id for bot_id, turn in newest.items() if self._is_missed(bot_id, turn))

    def _is_missed(self, bot_id: int, turn: int) -> bool:
        """Return whether a waiter of a bot may have missed the bot's newest turn."""
        entry = self._entries.get(bot_id)
        if entry is None:
            return False
        last, entry.newest_turn = entry.newest_turn, turn
        return turn != last or not all(waiter.keeps_waiting for waiter in entry.waiters)
