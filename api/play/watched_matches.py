"""Who watches matches in this process: a crowd for `api.play.hints`.

All who watch a match share one list of its events, encoded once; each knows how far it has come.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import Error as DatabaseError

from api.play.database import Database, ToldEvent
from league.play.spectating import MatchFeed

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Watched:
    """A match that is watched.

    Attributes:
        events: all told so far.
        over: whether no more will come.
        watchers: one event each, set when there is something new.
    """

    feed: MatchFeed
    events: list[ToldEvent] = field(default_factory=list)
    over: bool = False
    watchers: set[asyncio.Event] = field(default_factory=set)
    asking: asyncio.Task[None] | None = None
    again: bool = False


class Matches:
    """All who watch, by match; a look is one query a match."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watched: dict[int, Watched] = {}

    async def close(self) -> None:
        """End what is under way."""
        asking = [entry.asking for entry in self._watched.values() if entry.asking]
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def add(self, match_id: int, news: asyncio.Event) -> Watched:
        """Register somebody who watches, and have the match told as far as it is."""
        entry = self._watched.setdefault(match_id, Watched(MatchFeed(match_id)))
        entry.watchers.add(news)
        if entry.events:
            news.set()
        self.wake([match_id])
        return entry

    def remove(self, match_id: int, news: asyncio.Event) -> None:
        """Forget somebody."""
        entry = self._watched.get(match_id)
        if entry is not None:
            entry.watchers.discard(news)
            if not entry.watchers:
                del self._watched[match_id]

    def wake(self, ids: Iterable[int]) -> None:
        """See to those who watch these matches: one question a match, however many watch."""
        for match_id in ids:
            entry = self._watched.get(match_id)
            if entry is None or entry.over:
                continue
            if entry.asking is None or entry.asking.done():
                entry.asking = asyncio.create_task(self._ask(match_id, entry))
            else:
                entry.again = True

    async def look(self) -> None:
        """Ask for every match that is watched: its hints may have been lost."""
        self.wake(list(self._watched))

    async def _ask(self, match_id: int, entry: Watched) -> None:
        entry.again = True
        while entry.again:
            entry.again = False
            try:
                told = await self._database.new_events(entry.feed)
            except DatabaseError as error:
                log.warning("match %s could not be read: %s", match_id, error)
                return  # the next look tries again
            except Exception:
                log.exception("match %s could not be read", match_id)
                return
            if told:
                entry.events += told
                entry.over = entry.feed.over
                for news in entry.watchers:
                    news.set()
