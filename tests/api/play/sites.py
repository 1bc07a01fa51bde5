"""A gateway on a socket, with a client, for tests of waiting and watching."""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from api.play import app as gateway
from api.problems import ProblemError
from api.tokens import token_text
from league import play
from league.models import Bot, Match
from tests.league import small

WAIT: dict[str, Any] = {"wait": 20}
SOON = 3.0
"""Seconds that an immediate answer may take on a busy machine."""


def identify(authorization: str) -> Bot:
    """Return the bot whose name is the token; treat any other token as the league does."""
    token = token_text(authorization)
    if token == "owner":
        raise ProblemError("bot-token-needed")
    bot = Bot.objects.filter(name=token).first()
    return bot or gateway.find_bot(authorization)


def await_true(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + 20
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


class Site:
    """A running gateway, and a client of it."""

    def __init__(self, app: gateway.Gateway, socket: Path) -> None:
        self.app = app
        limits = httpx.Limits(max_connections=300)
        self.client = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(socket), limits=limits, verify=False),
            base_url="http://league/api/v1",
            timeout=40,
        )
        self._threads = ThreadPoolExecutor(250)

    def get(self, bot: Bot | str, path: str = "/turns", **params: Any) -> httpx.Response:
        name = bot if isinstance(bot, str) else bot.name
        return self.client.get(path, params=params, headers={"Authorization": f"Bearer {name}"})

    def start_poll(self, bot: Bot | str, **params: Any) -> Future[httpx.Response]:
        """Poll for turns in a thread; return the future response."""
        return self._threads.submit(self.get, bot, **params)

    def await_waiters(self, count: int) -> None:
        await_true(lambda: len(self.app._turns) == count)

    @contextmanager
    def stream(self, bot: Bot | str) -> Iterator[Iterator[Any]]:
        """Yield an iterator of a stream: turns, None for each keep-alive, and a problem."""
        token = bot if isinstance(bot, str) else bot.name
        headers = {"Authorization": f"Bearer {token}"}
        with self.client.stream("GET", "/turns/stream", headers=headers) as response:
            assert response.headers["content-type"] == "text/event-stream"

            def events() -> Iterator[Any]:
                for line in response.iter_lines():
                    if line.startswith("data: "):
                        yield json.loads(line[6:])
                    elif line == ": keep-alive":
                        yield None

            yield events()

    def close(self) -> None:
        self.client.close()
        self._threads.shutdown()


@contextmanager
def served(identify: Callable[[str], Bot] = identify) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="waiting-") as directory:
        socket = Path(directory) / "http.sock"
        app = gateway.Gateway(identify)
        config = uvicorn.Config(
            app,
            uds=str(socket),
            log_level="warning",
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        site = Site(app, socket)
        try:
            yield site
        finally:
            site.close()
            server.should_exit = True
            thread.join()


def open_match(bots: list[Bot]) -> Match:
    """Open a match now, by the real clock, with a bank of ten minutes."""
    versions = small.versions(bots)
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=versions, bank_seconds=600
    )
    play.open_live(match.pk)
    return match
