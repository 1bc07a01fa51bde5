"""The calls of spectators: the events of one match, or of several in one stream.

A browser opens six connections to one address over HTTP/1.1, so a page with more live tables needs
one stream for all of them.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager

from django.utils import timezone
from structlog.contextvars import bind_contextvars

from api.play.database import Database, EncodedEvent
from api.play.requests import Request, encode_event
from api.play.spectators import Spectators, WatchedMatch
from api.play.waiting_limits import WaitingLimits
from api.problems import ProblemError
from league.models import Match
from league.play.spectating import PhaseClock
from league.play.turn_clocks import MILLISECOND
from league.play.turns import as_text

MAX_MATCHES = 12
"""The most matches in one stream."""
_MATCH = re.compile(r"[0-9]{1,18}", re.ASCII)
_PLACES = re.compile(r"([0-9]{1,18}:([0-9]{1,9}|end)(,(?=[0-9])|$))*", re.ASCII)


class Place:
    """How far one stream has sent one match.

    Attributes:
        match_id: the match's id.
        last_id: id of the last event that the client has, "" for none.
    """

    def __init__(self, match_id: int, match: WatchedMatch, last_id: str) -> None:
        self.match_id, self.last_id = match_id, last_id
        self._match = match
        self._sent = 0
        self._clock: PhaseClock | None = None

    @property
    def is_over(self) -> bool:
        """Whether the last event of the match was sent."""
        return self._match.over and self._sent == len(self._match.events)

    def take(self) -> list[EncodedEvent]:
        """Return the events that the client does not have yet."""
        unsent = self._match.events[self._sent :]
        self._sent += len(unsent)
        if self.last_id in (ids := [event.id for event in unsent]):
            unsent = unsent[ids.index(self.last_id) + 1 :]
        return unsent

    def take_clock(self) -> bytes:
        """Return the event of the match's clock, if it has changed since the last call."""
        clock = self._match.clock
        if clock == self._clock:
            return b""
        self._clock = clock
        return b"" if clock is None else _clock_event(self.match_id, clock)


class WatchCalls:
    """The two calls.

    Args:
        waiting: bounds the streams of an address.
        database: finds the matches.
        spectators: hold the events of each match.
    """

    def __init__(self, waiting: WaitingLimits, database: Database, spectators: Spectators) -> None:
        self._waiting, self._database, self._spectators = waiting, database, spectators

    async def match(self, request: Request, match_id: int) -> None:
        """Send the public view of a match, phase by phase, from its start or after an event."""
        bind_contextvars(match_id=match_id)
        request.query(())
        with self._limits(request):
            await self._known(request, [match_id])
            last_id = request.header(b"last-event-id")
            if last_id == "end":  # 204 keeps a browser from connecting again
                await request.respond(204, b"", "text/event-stream")
                return
            await self._send(request, {match_id: last_id}, is_single=True)

    async def matches(self, request: Request) -> None:
        """Send the events of several matches as `match` does, each as it happens.

        The stream leaves out matches that do not exist: a page with many tables loses one of them,
        not all.
        """
        query = request.query({"match", "after"})
        wanted = _wanted(query.get("match", []))
        places = places_of(request.header(b"last-event-id") or query.get("after", [""])[-1])
        with self._limits(request):
            known = await self._known(request, wanted)
            last_ids = {pk: places.get(pk, "") for pk in known}
            if all(last_id == "end" for last_id in last_ids.values()):
                await request.respond(204, b"", "text/event-stream")
                return
            await self._send(request, last_ids, is_single=False)

    @contextmanager
    def _limits(self, request: Request) -> Iterator[None]:
        with (
            self._waiting.from_address(request.client, is_stream=True),
            self._waiting.of_client(request.client, is_stream=False),
        ):
            yield

    async def _known(self, request: Request, ids: Sequence[int]) -> list[int]:
        """Count the request; return the ids of matches that exist, in their order.

        Raises:
            ProblemError: the limit is used up, or none of the matches exists.
        """
        await request.count("general", request.client)
        query = Match.objects.filter(pk__in=ids).values_list("pk", flat=True)
        found = set(await self._database.run(lambda: list(query)))
        if not found:
            numbers = " or ".join(map(str, ids))
            raise ProblemError("not-found", f"There is no match {numbers}.")
        return [match_id for match_id in ids if match_id in found]

    async def _send(self, request: Request, last_ids: dict[int, str], *, is_single: bool) -> None:
        """Send the events of matches after those with given ids, until the last event of all."""
        changed = asyncio.Event()
        places = [
            Place(pk, self._spectators.add(pk, changed), last_id)
            for pk, last_id in last_ids.items()
        ]
        try:
            async with aclosing(request.stream(changed)) as woken:
                async for _ in woken:
                    changed.clear()
                    await request.send_part(new_part(places, is_single=is_single))
                    if all(place.is_over for place in places):
                        await request.send_part(b"", more=False)
                        return
        finally:
            for pk in last_ids:
                self._spectators.remove(pk, changed)


def new_part(places: Sequence[Place], *, is_single: bool) -> bytes:
    """Return the new events of a stream; in a stream of several matches an id has all places."""
    parts = []
    for place in places:
        for event in place.take():
            place.last_id = event.id
            if is_single:
                parts.append(event.body)
            else:
                parts.append(encode_event(event.kind, event.data, _id_of(places)))
        parts.append(place.take_clock())
    return b"".join(parts)


def _id_of(places: Sequence[Place]) -> str:
    return ",".join(f"{place.match_id}:{place.last_id}" for place in places if place.last_id)


def _clock_event(match_id: int, clock: PhaseClock) -> bytes:
    """Return the event of a clock; it has no id, so a client continues after a phase."""
    deadline = clock.deadline
    left = None if deadline is None else max(0, (deadline - timezone.now()) // MILLISECOND)
    data = {
        "match": match_id,
        "to_act": clock.to_act,
        "deadline": deadline and as_text(deadline),
        "remaining_ms": left,
    }
    return encode_event("clock", json.dumps(data, separators=(",", ":")).encode())


def _wanted(texts: Sequence[str]) -> list[int]:
    """Return the ids of the parameter ``match``, each once.

    Raises:
        ProblemError: ``invalid``: there is none, there are too many, or one is no number.
    """
    if all(_MATCH.fullmatch(text) for text in texts) and 0 < len(texts) <= MAX_MATCHES:
        return list(dict.fromkeys(map(int, texts)))
    message = f"Give the ids of 1 to {MAX_MATCHES} matches, such as match=7&match=9."
    raise ProblemError("invalid", errors={"match": [message]})


def places_of(text: str) -> dict[int, str]:
    """Return the last event of each match from the id of an event of several matches.

    Raises:
        ProblemError: ``invalid``: it is no such id.
    """
    if not _PLACES.fullmatch(text):
        message = "This must be the id of an event of this stream, such as 7:12,9:end."
        raise ProblemError("invalid", errors={"after": [message]})
    pairs = (part.split(":") for part in text.split(",") if part)
    return {int(pk): last_id for pk, last_id in pairs}
