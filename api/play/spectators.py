"""Requests of this process that watch matches: `Waiters` for `api.play.wakeup_listener`.

All spectators of a match share one list of its events; each sends the part that it has not sent.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

import structlog
from django.db import Error as DatabaseError

from api.play.database import Database, EncodedEvent
from league.archive_files import ArchiveError
from league.play.spectating import FeedState, MatchFeed, PhaseClock, feed_states

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class WatchedMatch:
    """A match with spectators.

    Attributes:
        events: all events so far.
        over: whether the last event is among them.
        clock: of the match in play, as the last reading found it.
        state: of the match's events, as the last refresh found it.
        read_state: the value of `state` before the last reading that succeeded.
        spectators: one asyncio event each, set after a new event of the match.
    """

    feed: MatchFeed
    events: list[EncodedEvent] = field(default_factory=list)
    over: bool = False
    clock: PhaseClock | None = None
    state: FeedState | None = None
    read_state: FeedState | None = None
    spectators: set[asyncio.Event] = field(default_factory=set)
    reading: asyncio.Task[None] | None = None
    read_again: bool = False


class Spectators:
    """All requests that watch, by match."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._matches: dict[int, WatchedMatch] = {}

    async def close(self) -> None:
        """Cancel the queries under way."""
        reading = [match.reading for match in self._matches.values() if match.reading]
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    def add(self, match_id: int, changed: asyncio.Event) -> WatchedMatch:
        """Register a spectator, and read the events of the match so far."""
        match = self._matches.setdefault(match_id, WatchedMatch(MatchFeed(match_id)))
        match.spectators.add(changed)
        if match.events:  # others watch it already
            changed.set()
        self.wake([match_id])
        return match

    def remove(self, match_id: int, changed: asyncio.Event) -> None:
        """Remove a spectator."""
        match = self._matches.get(match_id)
        if match is not None:
            match.spectators.discard(changed)
            if not match.spectators:
                del self._matches[match_id]

    def wake(self, ids: Iterable[int]) -> None:
        """Read the new events of these matches and wake their spectators: one query per match."""
        for match_id in ids:
            match = self._matches.get(match_id)
            if match is None or match.over:
                continue
            if match.reading is None or match.reading.done():
                match.reading = asyncio.create_task(self._read_events(match_id, match))
            else:
                match.read_again = True

    async def refresh(self) -> None:
        """Read the new events of watched matches: a wake-up may have been lost.

        Anybody may watch thousands of matches. So one query finds the matches that may have new
        events, and only these are read.
        """
        watched = [match_id for match_id, match in self._matches.items() if not match.over]
        if not watched:
            return
        states = await self._database.run(lambda: feed_states(watched))
        for match_id, state in states.items():
            match = self._matches.get(match_id)
            if match is not None and (state != match.read_state or not state.is_in_play):
                match.state = state
                self.wake([match_id])

    async def _read_events(self, match_id: int, match: WatchedMatch) -> None:
        match.read_again = True
        while match.read_again:
            match.read_again = False
            state = match.state
            try:
                events = await self._database.new_events(match.feed)
            except Exception as error:  # the next refresh tries again
                about = {"match_id": match_id, "error": str(error)}
                if isinstance(error, DatabaseError | ArchiveError):
                    log.warning("the events of a match could not be read", **about)
                else:
                    log.exception("the events of a match could not be read", **about)
                return
            match.read_state = state
            if events or match.clock != match.feed.clock:
                match.events += events
                match.over = match.feed.over
                match.clock = match.feed.clock
                for changed in match.spectators:
                    changed.set()
