"""``make up``: the whole league on one machine, every part under one supervisor.

Servers from wheels (or those that DATABASE_URL and REDIS_URL name), migrations, what a new league
begins with; then web, worker and beat. A part that ends by itself is started again; Ctrl-C ends
all of them in order.
"""

import argparse
import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from league.local.servers import ServersError, local_servers

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

_STOP_SECONDS = 15.0
_READY_SECONDS = 60.0
_QUICK_END_SECONDS = 5.0
_MOST_QUICK_ENDS = 5
_COLOURS = (36, 32, 33, 35, 34, 31)


class Part(NamedTuple):
    """A program that the supervisor keeps running."""

    name: str
    command: Sequence[str | Path]


class CannotStartError(Exception):
    """The league can't start; the message is one line with the remedy."""


def main() -> int:
    """Run the league until it is told to stop; return the exit status."""
    parser = argparse.ArgumentParser(prog="make up", description="Run the whole league here.")
    parser.add_argument("--host", default=os.environ.get("HOST", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=os.environ.get("PORT", "8000"))
    parser.add_argument("--directory", type=Path, default=CHECKOUT / "var")
    options = parser.parse_args()
    try:
        _check_port(options.host, options.port)
        options.directory.mkdir(mode=0o700, exist_ok=True)
        real = "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ
        with nullcontext() if real else local_servers(options.directory) as servers:
            environment = dict(os.environ)
            if servers:
                environment["DATABASE_URL"] = servers.database_url
                environment["REDIS_URL"] = servers.redis_url
            environment.setdefault("SECRET_KEY", _secret_key(options.directory))
            environment.setdefault("PYTHONUNBUFFERED", "1")
            # Nothing here listens to the outside, so the worker may be who started it, root too.
            environment.setdefault("PYTHONWARNINGS", "ignore:You're running the worker")
            _prepare(environment)
            asyncio.run(_run(options, environment))
    except (CannotStartError, ServersError) as error:
        print(f"make up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotStartError(
                f"port {port} on {host} can't be used ({error.strerror}); try make up PORT=8001"
            ) from None


def _secret_key(directory: Path) -> str:
    """Return the key of this league, made at the first start and kept."""
    path = directory / "secret_key"
    if not path.exists():
        fresh = directory / f"secret_key.{os.getpid()}"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        fresh.replace(path)
    return path.read_text()


def _prepare(environment: Mapping[str, str]) -> None:
    """Bring the database up to date and create what a league begins with."""
    for command in (["migrate", "--verbosity", "0"], ["set_up_league"]):
        done = subprocess.run(
            [sys.executable, CHECKOUT / "manage.py", *command], env=environment, check=False
        )
        if done.returncode:
            raise CannotStartError(f"manage.py {command[0]} failed, as said above")


def _parts(options: argparse.Namespace) -> list[Part]:
    concurrency = str(max(2, os.cpu_count() or 1))
    web = f"--interface wsgi --host {options.host} --port {options.port} --blocking-threads 2"
    celery = "-A league --quiet"
    worker = f"worker --queues clock,control,play --concurrency {concurrency} --without-gossip"
    schedule = options.directory / "beat-schedule"
    return [
        Part(
            "web",
            [BIN / "granian", *web.split(), "--log-level", "warning", "league.wsgi:application"],
        ),
        Part(
            "worker",
            [BIN / "celery", *celery.split(), *worker.split(), "--loglevel", "WARNING"],
        ),
        Part(
            "beat",
            [
                BIN / "celery",
                *f"{celery} beat --loglevel WARNING --pidfile= --schedule".split(),
                schedule,
            ],
        ),
    ]


async def _run(options: argparse.Namespace, environment: dict[str, str]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    parts = _parts(options)
    width = max(len(part.name) for part in parts)
    keepers = [
        asyncio.create_task(_keep(part, environment, stop, _prefix(i, part.name, width)))
        for i, part in enumerate(parts)
    ]
    banner = asyncio.create_task(_announce(f"http://{options.host}:{options.port}/", stop))
    await asyncio.gather(*keepers, banner)


def _prefix(index: int, name: str, width: int) -> str:
    label = f"{name:{width}} | "
    return (
        f"\033[{_COLOURS[index % len(_COLOURS)]}m{label}\033[0m" if sys.stdout.isatty() else label
    )


async def _keep(
    part: Part, environment: Mapping[str, str], stop: asyncio.Event, prefix: str
) -> None:
    """Keep a part running until told to stop; give up on one that keeps ending at once."""
    quick_ends = 0
    while not stop.is_set():
        began = time.monotonic()
        # A group of its own, so that Ctrl-C in the terminal reaches it through us alone, in order.
        process = await asyncio.create_subprocess_exec(
            *map(str, part.command),
            env=environment,
            cwd=CHECKOUT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        copying = asyncio.create_task(_copy(process, prefix))
        ended = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if stop.is_set():
            await _end(process)
        else:
            print(f"{prefix}ended with status {process.returncode}, starting again", flush=True)
            quick = time.monotonic() - began < _QUICK_END_SECONDS
            quick_ends = quick_ends + 1 if quick else 0
            if quick_ends >= _MOST_QUICK_ENDS:
                print(f"{prefix}ends again and again; stopping everything", flush=True)
                stop.set()
        await copying


async def _copy(process: asyncio.subprocess.Process, prefix: str) -> None:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        print(prefix + line.decode(errors="backslashreplace").rstrip(), flush=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            os.killpg(process.pid, number)
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                continue


async def _announce(address: str, stop: asyncio.Event) -> None:
    """Say where the league is, once it answers."""
    deadline = time.monotonic() + _READY_SECONDS
    while not stop.is_set():
        if await asyncio.to_thread(_answers, address):
            print(_BANNER.format(address=address), flush=True)
            return
        if time.monotonic() > deadline:
            print(f"The league does not answer at {address}; see above.", file=sys.stderr)
            return
        await asyncio.sleep(0.1)


_BANNER = """
Twelfth Night is up: {address}

  A first tournament starts in a moment: {address}tournaments/
  Stop with Ctrl-C; everything is kept in var/.
"""


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
