"""Who waits for turns in this process, by bot: a crowd for `api.play.hints`."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from django.db import Error as DatabaseError

from api.play.database import Database, OfferedTurn
from league.models import Bot

log = logging.getLogger(__name__)

SEEN_AT_EACH = 15
"""Of how many looks one notes the waiting bots as seen."""


class Waiter(Protocol):
    """Somebody who waits for the turns of one bot."""

    insatiable: bool
    """Whether it goes on waiting after it was offered turns."""

    def offer(self, turns: Sequence[OfferedTurn]) -> None:
        """Take the open turns, of which there is at least one."""


@dataclass(slots=True)
class _Bot:
    bot: Bot
    waiters: set[Waiter] = field(default_factory=set)
    newest: int = 0
    asking: asyncio.Task[None] | None = None
    again: bool = False


class Turns:
    """All who wait for turns, by bot; a look is one query for all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bots: dict[int, _Bot] = {}
        self._looks = 0

    async def close(self) -> None:
        """End what is under way."""
        asking = [entry.asking for entry in self._bots.values() if entry.asking]
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def __len__(self) -> int:
        return sum(len(entry.waiters) for entry in self._bots.values())

    def add(self, bot: Bot, waiter: Waiter) -> None:
        """Register somebody. Only then look into the database, so that no turn falls between."""
        self._bots.setdefault(bot.pk, _Bot(bot)).waiters.add(waiter)

    def remove(self, bot: Bot, waiter: Waiter) -> None:
        """Forget somebody."""
        entry = self._bots.get(bot.pk)
        if entry is not None:
            entry.waiters.discard(waiter)
            if not entry.waiters:
                del self._bots[bot.pk]

    def wake(self, ids: Iterable[int]) -> None:
        """See to those who wait for turns of these bots: one query a bot, however many wait."""
        for bot_id in ids:
            entry = self._bots.get(bot_id)
            if entry is None:
                continue
            if entry.asking is None or entry.asking.done():
                entry.asking = asyncio.create_task(self._ask(entry))
            else:
                entry.again = True

    async def _ask(self, entry: _Bot) -> None:
        entry.again = True
        while entry.again:
            entry.again = False
            try:
                turns = await self._database.open_turns(entry.bot)
            except Exception as error:
                entry.newest = 0  # so that the next look tries again
                if isinstance(error, DatabaseError):
                    log.warning("turns of %s could not be read: %s", entry.bot, error)
                else:
                    log.exception("turns of %s could not be read", entry.bot)
                return
            if turns:
                for waiter in list(entry.waiters):
                    waiter.offer(turns)

    async def look(self) -> None:
        """Wake those who may not know of a turn; note now and then that their bots wait."""
        if not self._bots:
            return
        self._looks += 1
        newest = await self._database.newest_open(
            list(self._bots), seen=self._looks % SEEN_AT_EACH == 0
        )
        self.wake(bot_id for bot_id, turn in newest.items() if self._is_news(bot_id, turn))

    def _is_news(self, bot_id: int, turn: int) -> bool:
        """Return whether anybody who waits for a bot may not know of its newest turn."""
        entry = self._bots.get(bot_id)
        if entry is None:
            return False
        known, entry.newest = entry.newest, turn
        return turn != known or not all(waiter.insatiable for waiter in entry.waiters)
