"""The gateway's database queries, run in a few threads."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.utils import timezone

from api.play.groups import Groups, in_threads
from api.play.requests import encode_event
from api.play.threads import ConnectedThreads
from league import play
from league.play.spectating import FeedEvent, MatchFeed
from league.play.statements import newest_open
from league.play.turns import AskingBot, note_all_seen

THREADS = 4


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
        self._turns = Groups(in_threads(self, _encoded_turns), runs=THREADS)

    async def open_turns(self, bot: AskingBot) -> list[EncodedTurn]:
        """Hand out the open turns of a bot."""
        return await self._turns.add(bot)

    async def new_events(self, feed: MatchFeed) -> list[EncodedEvent]:
        """Return the new events of a match."""
        return await self.run(lambda: [EncodedEvent(event) for event in feed.new_events()])

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


def _encoded_turns(bots: Sequence[AskingBot]) -> list[list[EncodedTurn]]:
    """Hand out the open turns of bots; return them in the order of the bots."""
    found = play.open_turns_of(bots, timezone.now())
    encoded = {pk: [EncodedTurn(turn) for turn in turns] for pk, turns in found.items()}
    return [encoded[bot.pk] for bot in bots]
