"""The directory of a league: used by one league at a time, and free of the last run's processes."""

import fcntl
import hashlib
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from devserver import processes
from devserver.running import url_of_running

LOCK = "lock"
"""The file in a league's directory that its supervisor alone has open and locked."""

_MAX_SOCKET_PATH_BYTES = 107
_LAST_RUN_SECONDS = 3.0
"""The time in which servers of a killed run end by themselves; then they are killed."""
_MAX_LAST_RUN_SECONDS = 30.0


class ServersError(Exception):
    """The servers can't start; the message has the reason and the remedy."""


class Place(NamedTuple):
    """A directory that belongs to this process.

    Attributes:
        directory: of the league's data and logs.
        sockets: directory of its unix sockets.
        alive: file that every process of the league holds open and locked.
    """

    directory: Path
    sockets: Path
    alive: IO[str]


def reason(error: Exception) -> str:
    """Return the message of an error; if it is about a file, the file and the reason."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    remedy = " Does it belong to another user?" if isinstance(error, PermissionError) else ""
    return f"{error.filename}: {error.strerror}.{remedy}"


@contextmanager
def claimed(directory: Path) -> Iterator[Place]:
    """Claim a directory while the context lasts, and end the processes of a run that was killed.

    Args:
        directory: created if it is missing; only its owner can enter it.

    Raises:
        ServersError: a league runs in the directory.
    """
    directory = directory.resolve()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (directory / LOCK).open("w") as lock, (directory / "servers.lock").open("w") as alive:
        if not try_lock(lock):
            url = url_of_running(directory)
            raise ServersError(
                f"A league is already running in {directory}{f', at {url}' if url else ''}. "
                "`make down` ends it. A second league needs its own checkout, or another "
                "--directory of `python -m devserver.up`."
            )
        _end_last_run(alive, directory)
        with _socket_directory(directory) as sockets:
            yield Place(directory, sockets, alive)


def try_lock(file: IO[str]) -> bool:
    """Lock a file unless another process has locked it; return whether it is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def secret_key(directory: Path) -> str:
    """Return the secret key of a league, which its first start creates in its directory."""
    path = directory / "secret_key"
    if not path.exists():
        fresh = directory / f"secret_key.{os.getpid()}"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        fresh.replace(path)
    return path.read_text()


def _end_last_run(alive: IO[str], directory: Path) -> None:
    """Wait until every process of a killed run has ended; kill those that take too long.

    PostgreSQL recovers from that as from a crash.
    """
    began = time.monotonic()
    killed: set[int] = set()
    while not try_lock(alive):
        waited = time.monotonic() - began
        if waited > _MAX_LAST_RUN_SECONDS:
            raise ServersError(
                f"Processes of an earlier run still use {directory} after "
                f"{_MAX_LAST_RUN_SECONDS:.0f} s {_listed(processes.holders(alive))}. End them "
                "and start again."
            )
        if waited > _LAST_RUN_SECONDS:
            for pid in processes.holders(alive):
                processes.kill(pid)
                killed.add(pid)
        time.sleep(0.02)
    if killed:
        print(f"Killed processes of an earlier run {_listed(killed)}.", file=sys.stderr)


def _listed(pids: Iterator[int] | set[int]) -> str:
    return f"(process ids {', '.join(map(str, sorted(pids)))})"


@contextmanager
def _socket_directory(directory: Path) -> Iterator[Path]:
    """Yield an empty directory whose path is short enough for unix sockets."""
    sockets = directory / "run"
    longest = len(os.fsencode(sockets / ".s.PGSQL.5432.lock"))
    if longest <= _MAX_SOCKET_PATH_BYTES:
        shutil.rmtree(sockets, ignore_errors=True)
        sockets.mkdir(mode=0o700)
        yield sockets
        return
    prefix = f"league-{hashlib.sha256(os.fsencode(directory)).hexdigest()[:8]}-"
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):  # by a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix) as short:
        yield Path(short)
