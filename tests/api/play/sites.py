"""A gateway on a socket, with a client, for tests of waiting and watching."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import uvicorn
from django.db import connection
from django.utils import timezone

from api.play import app as gateway
from api.play.move_queue import MoveQueue
from devserver.running import CHECKOUT
from league import accounts, play
from league.models import Bot, Match, Token
from tests.league import small
from tests.league.play.live import choose

WAIT: dict[str, Any] = {"wait": 20}
SOON = 3.0
"""Seconds that an immediate answer may take on a busy machine."""


def tokens_by_name(texts: Collection[str]) -> dict[str, Token]:
    """Return tokens as the league does, but a bot's name is a token of this bot too."""
    named = {bot.name: Token(bot=bot) for bot in Bot.objects.filter(name__in=texts)}
    return named | accounts.find_tokens(texts)


def await_true(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + 20
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


def listens(path: Path) -> bool:
    """Tell whether a server listens on a socket; its file is there a moment before."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


class Site:
    """A running gateway, and a client of it."""

    def __init__(self, app: gateway.Gateway, server: uvicorn.Server, socket: Path) -> None:
        self.app, self.server = app, server
        limits = httpx.Limits(max_connections=300)
        self.client = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(socket), limits=limits, verify=False),
            base_url="http://testserver/api/v1",
            timeout=40,
        )
        self._threads = ThreadPoolExecutor(250)

    def get(self, bot: Bot | str, path: str = "/turns", **params: Any) -> httpx.Response:
        name = bot if isinstance(bot, str) else bot.name
        return self.client.get(path, params=params, headers={"Authorization": f"Bearer {name}"})

    def call(
        self, method: str, path: str, body: Any = None, token: str = "", **headers: str
    ) -> httpx.Response:
        """Return the response to a call; a body of bytes goes out as it is."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        headers.setdefault("Content-Type", "application/json")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        url = path if path.startswith("/") else f"/{path}"
        return self.client.request(method, url, content=data, headers=headers)

    def post(self, path: str, body: Any = None, **kwargs: Any) -> httpx.Response:
        return self.call("POST", path, body, **kwargs)

    def start_post(self, path: str, body: Any, token: str) -> Future[httpx.Response]:
        """Post in a thread; return the future response."""
        return self._threads.submit(self.post, path, body, token=token)

    @property
    def queue(self) -> MoveQueue:
        """The queue of moves."""
        return self.app._moves.queue

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
def served(
    find_tokens: Callable[[Collection[str]], dict[str, Token]] = tokens_by_name,
) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="waiting-") as directory:
        socket = Path(directory) / "http.sock"
        app = gateway.Gateway(find_tokens)
        config = uvicorn.Config(
            app,
            uds=str(socket),
            log_level="warning",
            lifespan="on",
            ws="none",
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start; its log has the reason"
            time.sleep(0.01)
        site = Site(app, server, socket)
        try:
            yield site
        finally:
            site.close()
            server.should_exit = True
            thread.join()


class GatewayProcess(NamedTuple):
    """A gateway in its own process, and a client of it."""

    process: subprocess.Popen[bytes]
    client: httpx.Client


@contextmanager
def gateway_process(
    directory: Path, application: str = "api.play.app:application"
) -> Iterator[GatewayProcess]:
    """Run a gateway that a test can kill; it is killed at the end."""
    at = directory / "http.sock"
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    command = [sys.executable, "-m", "uvicorn", "--log-level", "warning", "--uds", str(at)]
    with (
        subprocess.Popen(
            [*command, application],
            env={**os.environ, "DATABASE_URL": url.geturl(), "PYTHONPATH": str(CHECKOUT)},
        ) as process,
        httpx.Client(
            transport=httpx.HTTPTransport(uds=str(at)), base_url="http://localhost/api/v1"
        ) as client,
    ):
        try:
            await_true(lambda: listens(at) or process.poll() is not None)
            yield GatewayProcess(process, client)
        finally:
            process.kill()  # or the tests after a failure wait for its locks


def open_match(bots: list[Bot]) -> Match:
    """Open a match now, by the real clock, with a bank of ten minutes."""
    versions = small.versions(bots)
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=versions, bank_seconds=600
    )
    play.open_live(match.pk)
    return match


def first_moves(bots: list[Bot], matches: int) -> list[tuple[str, dict[str, Any]]]:
    """Open matches; return the path and the body of the first bot's first move in each."""
    for _ in range(matches):
        open_match(bots)
    turns = play.open_turns(bots[0], timezone.now())
    return [
        (f"matches/{turn['match']}/moves", {"turn": 0, "move": choose(turn["observation"])})
        for turn in turns
    ]


def move_of(turn: dict[str, Any]) -> dict[str, Any]:
    return {"turn": turn["turn"], "move": choose(turn["observation"])}
