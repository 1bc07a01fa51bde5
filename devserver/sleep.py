"""Sleep: at rest a worker ends, and starts again when a task waits for it.

An idle worker of Celery takes 20 MB or more, and some processor time. While the league is at rest
(`league/activity.py`), most workers have nothing to do for hours, and the fork server starts one in
a second. So the supervisor of `make up` ends those that may sleep. It starts a worker again when a
task waits.

While a worker sleeps, `Sleep` gives the heartbeats of its queues, because their tasks begin soon.
The names of the keys are those of `league.activity` and `league.heartbeats`. They are repeated
here, because Django and the client of Valkey would take more memory than a worker saves. A test
compares the names.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

ACTIVE_KEY = "league:1:league-active"
"""This key is there while the league is active."""
HELD_KEY = "unacked"
"""Celery's tasks that workers have begun and not finished."""
HEARTBEAT_KEY = "league:1:worker:{}"
"""The key of a queue's heartbeat."""

EVERY_SECONDS = 0.5
"""A sleeping worker starts so long after its task at most."""
AFTER_SECONDS = 60.0
"""A worker sleeps if the league is at rest, and its queues are empty, for so long."""
_ANSWER_SECONDS = 1.0
_HEARTBEAT_SECONDS = 2.0
_KEPT_SECONDS = 24 * 3600


class Work:
    """Whether a part has work.

    Attributes:
        there: the event that it has some.
        gone: the event that it has had none for long.
        sleeps: whether its supervisor has ended the part until there is work.
    """

    def __init__(self) -> None:
        self.there, self.gone = asyncio.Event(), asyncio.Event()
        self.sleeps = False
        self._since: float | None = None

    def note(self, now: float, *, waits: bool, rests: bool, is_held: bool, after: float) -> None:
        """Note what was found now.

        Args:
            now: the time, in seconds.
            waits: whether a task waits for the part.
            rests: whether the league is at rest.
            is_held: whether any part has a task in hand.
            after: the seconds of rest after which the work is gone.
        """
        if waits:
            self.there.set()
        else:
            self.there.clear()
        if waits or not rests:
            self._since = None
            self.gone.clear()
        elif self._since is None:
            self._since = now
        elif now - self._since >= after and not is_held:
            self.gone.set()


class Sleep:
    """Finds out which workers have work.

    Args:
        valkey: the socket of the broker.
        database: the number of the league's database there.

    Attributes:
        after: the seconds without work after which a worker sleeps.
    """

    def __init__(self, valkey: Path, database: int) -> None:
        self.after = AFTER_SECONDS
        self._valkey, self._database = valkey, database
        self._parts: dict[tuple[str, ...], Work] = {}
        self._beat_at = 0.0

    def work(self, queues: Sequence[str]) -> Work:
        """Return the work of a part that serves some queues."""
        return self._parts.setdefault(tuple(queues), Work())

    async def watch(self) -> None:
        """Look for work until cancelled. Without the broker nothing changes."""
        while True:
            with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_unix_connection(self._valkey)
                try:
                    while True:
                        await self._look(reader, writer)
                        await asyncio.sleep(EVERY_SECONDS)
                finally:
                    writer.close()
            await asyncio.sleep(EVERY_SECONDS)

    async def _look(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        queues = list(self._parts)
        commands = [f"SELECT {self._database}"]
        commands += [f"EXISTS {' '.join(names)}" for names in queues]
        commands += [f"EXISTS {ACTIVE_KEY}", f"EXISTS {HELD_KEY}", *self._heartbeats()]
        writer.write("".join(f"{command}\r\n" for command in commands).encode())
        async with asyncio.timeout(_ANSWER_SECONDS):
            answers = [await reader.readuntil(b"\r\n") for _ in commands]
        if answers[0] != b"+OK\r\n":
            raise ValueError(f"the broker has no database {self._database}")
        *waiting, active, held = (int(answer[1:]) for answer in answers[1 : len(queues) + 3])
        for names, count in zip(queues, waiting, strict=True):
            self._parts[names].note(
                time.monotonic(),
                waits=bool(count),
                rests=not active,
                is_held=bool(held),
                after=self.after,
            )

    def _heartbeats(self) -> list[str]:
        """Return the commands for the heartbeats of sleeping workers, unless they are not due."""
        now = time.time()
        if now - self._beat_at < _HEARTBEAT_SECONDS:
            return []
        self._beat_at = now
        asleep = [names for names, work in self._parts.items() if work.sleeps]
        return [
            f"SET {HEARTBEAT_KEY.format(queue)} {now:.0f} EX {_KEPT_SECONDS}"
            for queue in chain.from_iterable(asleep)
        ]


def sleep_with(redis_url: str) -> Sleep | None:
    """Return what finds out when workers may sleep; None if the broker runs elsewhere."""
    address = urlsplit(redis_url)
    if address.scheme != "unix":
        return None
    [database] = parse_qs(address.query).get("db", ["0"])
    return Sleep(Path(address.path), int(database))
