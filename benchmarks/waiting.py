"""Idle waiters on one process of the gateway: their memory, and how soon they wake up.

Usage: python waiting.py [--waiters 2000] [--wakes 300]

The reference for memory is a bare uvicorn application with as many waiting requests. The reference
for wake-ups is a message from Valkey to a single subscriber.
"""

import argparse
import asyncio
import json
import resource
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import serving
from devserver import up
from devserver.part import Part

if TYPE_CHECKING:  # Django can be imported once the league has started
    from league.models import BotVersion

MAX_WAIT = 30
WAIT = f"/api/v1/turns?wait={MAX_WAIT}"
BARE = """
import asyncio, os

async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"].split(".")[1]
            await send({"type": f"lifespan.{kind}.complete"})
            if kind == "shutdown":
                return
    while (await receive())["type"] != "http.disconnect":
        pass
"""


class Waiter:
    """A bot that waits for a turn, and asks again when its time is over."""

    def __init__(self, at: Path, token: str) -> None:
        # asyncio takes a full queue of a unix socket for a connection; a blocking call waits.
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(str(at))
        self._request = serving.request("GET", WAIT, token)

    async def connect(self) -> None:
        """Send the first request."""
        self._reader, self._writer = await asyncio.open_unix_connection(sock=self._connection)
        self._writer.write(self._request)
        await self._writer.drain()

    async def turn(self) -> float:
        """Return the time at which the first turn comes."""
        while True:
            head = await self._reader.readuntil(b"\r\n\r\n")
            now = time.perf_counter()
            assert head.startswith(b"HTTP/1.1 200"), head
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if json.loads(await self._reader.readexactly(length))["turns"]:
                return now
            self._writer.write(self._request)

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--waiters", type=int, default=2000)
    parser.add_argument("--wakes", type=int, default=300)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with serving.league() as directory:
        bots = make_bots(options.waiters)
        bare = directory / "bare.py"
        bare.write_text(BARE)
        at = directory / "bare.sock"
        part = Part(name="bare", command=[up.BIN / "uvicorn", "--uds", at, "--app-dir", directory,
                             "--log-level", "warning", "bare:application"])  # fmt: skip
        with serving.running(part, at, directory / "bare.log") as pid:
            reference = asyncio.run(memory_only(at, pid, [token for _, token in bots]))
        at = directory / "waiting.sock"
        with serving.running(up.gateway(at), at, directory / "gateway.log") as pid:
            kib, at_rest, milliseconds, round_trips = asyncio.run(
                measure(at, pid, bots, options.wakes)
            )
    p50, p99 = (serving.at_share(milliseconds, share) for share in (0.5, 0.99))
    own50, own99 = (serving.at_share(round_trips, share) for share in (0.5, 0.99))
    print(f"{options.waiters} waiters, {options.wakes} of them woken one at a time\n")
    print(f"{'':28}{'league':>10}{'reference':>12}{'ratio':>8}")
    print(f"{'memory a waiter, KiB':28}{kib:10.1f}{reference:12.1f}{kib / reference:8.1f}")
    print(f"{'CPU at rest, %':28}{at_rest * 100:10.1f}")
    print(f"{'woken after, p50, ms':28}{p50:10.1f}{own50:12.1f}{p50 / own50:8.1f}")
    print(f"{'woken after, p99, ms':28}{p99:10.1f}{own99:12.1f}{p99 / own99:8.1f}")


def make_bots(count: int) -> list[tuple["BotVersion", str]]:
    """Return the version and the token of so many bots.

    The bots are written at once, because `create_bot` takes 10 ms for each.
    """
    from django.contrib.auth.models import User
    from django.db import transaction

    from league.accounts.tokens import new_bot_token
    from league.models import Bot, BotVersion

    owner = User.objects.create(username="owner")
    bots = Bot.objects.bulk_create(
        Bot(owner=owner, name=f"bot-{n}", kind=Bot.Kind.REMOTE) for n in range(count)
    )
    versions = BotVersion.objects.bulk_create(BotVersion(bot=bot, number=1) for bot in bots)
    for version in versions:
        version.bot.current = version
    Bot.objects.bulk_update(bots, ["current"], batch_size=1000)
    with transaction.atomic():
        return [(version, new_bot_token(version.bot)) for version in versions]


async def let_wait(at: Path, pid: int, tokens: list[str]) -> list[Waiter]:
    """Return a waiter for each token, as soon as the process has looked up all of them."""
    waiters: list[Waiter] = []
    for start in range(0, len(tokens), 50):
        waiters += [await asyncio.to_thread(Waiter, at, token) for token in tokens[start:][:50]]
        await asyncio.gather(*(waiter.connect() for waiter in waiters[start:]))
    await quiet(pid)
    return waiters


async def quiet(pid: int) -> None:
    """Wait until a process is at rest."""
    busy = 1.0
    while busy > 0.25:
        used = serving.cpu_seconds(pid)
        await asyncio.sleep(2)
        busy = (serving.cpu_seconds(pid) - used) / 2


async def memory_only(at: Path, pid: int, tokens: list[str]) -> float:
    """Return the memory of each waiter in KiB."""
    await let_wait(at, pid, tokens[:20])
    before = serving.memory_kib(pid)
    waiters = await let_wait(at, pid, tokens)
    taken = serving.memory_kib(pid) - before
    for waiter in waiters:
        waiter.close()
    return taken / len(tokens)


async def measure(
    at: Path, pid: int, bots: list[tuple["BotVersion", str]], wakes: int
) -> tuple[float, float, list[float], list[float]]:
    """Return KiB a waiter, CPU at rest, and by wake-up its ms and those of Valkey alone."""
    for waiter in await let_wait(at, pid, [token for _, token in bots[-20:]]):
        waiter.close()
    before = serving.memory_kib(pid)
    waiters = await let_wait(at, pid, [token for _, token in bots])
    kib = (serving.memory_kib(pid) - before) / len(bots)
    turns = [asyncio.create_task(waiter.turn()) for waiter in waiters]
    await asyncio.sleep(MAX_WAIT)  # each has asked again once, with its token remembered
    used, began = serving.cpu_seconds(pid), time.monotonic()
    await asyncio.sleep(MAX_WAIT)
    at_rest = (serving.cpu_seconds(pid) - used) / (time.monotonic() - began)
    woken: list[float] = []
    alone: list[float] = []
    for number in range(wakes):
        version, _ = bots[number]
        committed = await asyncio.to_thread(open_turn, version, bots[number - 1][0])
        arrived = await asyncio.wait_for(turns[number], 40)
        woken.append((arrived - committed) * 1000)
        alone.append(await asyncio.to_thread(hint_alone))
    for task in turns:
        task.cancel()
    return kib, at_rest, woken, alone


def open_turn(version: "BotVersion", other: "BotVersion") -> float:
    """Open a match that wakes one more bot; return the time of the commit.

    Args:
        version: the version of the bot to wake.
        other: the version of its opponent, which woke up before.
    """
    from django.utils import timezone

    from league import play

    match = play.open_unrated_match(
        game="partridge", rules="eagle-short", versions=[version, other], move_seconds=3600
    )
    play.open_live(match.pk, timezone.now())
    return time.perf_counter()


_CLIENTS: dict[str, Any] = {}


def hint_alone() -> float:
    """Return the milliseconds of a message through Valkey to one subscriber."""
    import redis
    from django.conf import settings

    if not _CLIENTS:
        client = redis.Redis.from_url(settings.REDIS_URL)
        # redis has no types for it.
        subscriber = client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        subscriber.subscribe("bench")
        subscriber.get_message(timeout=1)
        _CLIENTS.update(client=client, subscriber=subscriber)
    began = time.perf_counter()
    _CLIENTS["client"].publish("bench", 1)
    while _CLIENTS["subscriber"].get_message(timeout=1) is None:
        pass
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
