"""PostgreSQL and Valkey from wheels, on unix sockets in one directory, for tests and benchmarks.

The directory keeps the data between starts, and only its owner can enter it. The servers use no
port. `make up` runs the same two parts under its supervisor, which starts them again.

The servers end with the thread that starts them, however it ends: start them from the main thread.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from devserver.part import STOP_SECONDS, Part
from devserver.place import Place, ServersError, claimed
from devserver.postgres import last_lines, postgres
from devserver.valkey import valkey

_READY_SECONDS = 30.0


class Servers(NamedTuple):
    """The addresses of the servers, as the settings need them."""

    database_url: str
    redis_url: str


def server_parts(
    place: Place,
    *,
    durable: bool = True,
    database_url: str | None = None,
    redis_url: str | None = None,
) -> tuple[list[Part], Servers]:
    """Return the servers as parts, and their addresses; a server with a given URL is no part.

    Args:
        place: directory of their data.
        durable: whether committed data survive a power failure, which tests don't need.
        database_url: of a PostgreSQL that runs elsewhere.
        redis_url: of a Redis or Valkey that runs elsewhere.

    Raises:
        ServersError: a wheel is missing, or the machine can't run the servers.
    """
    parts: list[Part] = []
    if not (database_url and redis_url) and not shutil.which("setpriv"):
        raise ServersError(
            "The command setpriv is missing. The league uses it so that PostgreSQL and Valkey end "
            "when the league ends. Install util-linux, or set DATABASE_URL and REDIS_URL to "
            "servers that you run."
        )
    if redis_url is None:
        part, redis_url = valkey(place)
        parts.append(part)
    if database_url is None:
        part, database_url = postgres(place, durable=durable)
        parts.append(part)
    return parts, Servers(database_url, redis_url)


@contextmanager
def local_servers(
    directory: Path,
    *,
    durable: bool = True,
    database_url: str | None = None,
    redis_url: str | None = None,
) -> Iterator[Servers]:
    """Run both servers while the context lasts. The arguments are those of `server_parts`.

    Raises:
        ServersError: they run already, a wheel is missing, or a server does not start.
    """
    with ExitStack() as stack:
        place = stack.enter_context(claimed(directory))
        parts, servers = server_parts(
            place, durable=durable, database_url=database_url, redis_url=redis_url
        )
        for part in parts:
            stack.enter_context(_running(part, place))
        yield servers


@contextmanager
def _running(part: Part, place: Place) -> Iterator[None]:
    """Run a server while the context lasts, from the moment when it is ready."""
    assert part.log
    part.prepare()
    with part.log.open("ab") as output:
        # In its own session, Ctrl-C in the terminal does not reach it: it stops in our order.
        process = subprocess.Popen(
            part.words(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=[place.alive.fileno()],
        )
    try:
        _await_ready(part, process, part.log)
        yield
    finally:
        process.send_signal(part.stop_signal)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_ready(part: Part, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server answers; raise `ServersError` if it ends or takes too long."""
    assert part.is_ready
    deadline = time.monotonic() + _READY_SECONDS
    while not part.is_ready():
        if process.poll() is not None:
            raise ServersError(f"{part.name} ended right after its start. {last_lines(log)}")
        if time.monotonic() > deadline:
            raise ServersError(
                f"{part.name} does not answer after {_READY_SECONDS:.0f} s. {last_lines(log)}"
            )
        time.sleep(0.02)


def main() -> int:
    """Run both servers and print their addresses, until standard input ends."""
    try:
        with local_servers(Path(sys.argv[1] if len(sys.argv) > 1 else "var")) as servers:
            print(f"DATABASE_URL={servers.database_url}\nREDIS_URL={servers.redis_url}", flush=True)
            sys.stdin.read()
    except ServersError as error:
        print(f"servers: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
