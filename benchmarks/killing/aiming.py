"""Strikes at commit points: a process is killed or stopped in the middle of a transaction.

Nothing in the league knows of it. The benchmark adds triggers to the tables of its league. A
trigger takes an advisory lock and gives it back, which costs nothing, until the benchmark holds the
lock. Then the next transaction that reaches the point waits in PostgreSQL, and the benchmark finds
its backend and the process at the other end of the backend's socket.

Each point has two triggers. The first waits within the statement: if the client dies there, the
transaction is rolled back. The second is deferred and waits within COMMIT: a client that is stopped
there, and killed after the commit, has committed and does nothing that follows.
"""

import os
import signal
import socket
import struct
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from benchmarks.killing.targets import Target, strike

_LOCK = 0x7A_0E
_POLL_SECONDS = 0.005
_COMMIT_SECONDS = 1.0
_SOCK_DIAG, _NETLINK_SOCK_DIAG, _DUMP = 20, 4, 0x301
_SHOW_PEER, _PEER, _DONE = 4, 2, 3


class Point(NamedTuple):
    """A place in a transaction.

    Attributes:
        name: of the point.
        table: whose rows change there.
        event: the change, as in CREATE TRIGGER.
        condition: of the row, "" for every row.
    """

    name: str
    table: str
    event: str
    condition: str = ""


POINTS = (
    Point("a move", "league_livemove", "INSERT"),
    Point("a lease", "league_match", "UPDATE OF lease", "NEW.lease IS NOT NULL"),
    Point("the end of a match", "league_match", "UPDATE OF status", "NEW.status = 'finished'"),
    Point("a new round", "league_round", "INSERT"),
    Point("a rated round", "league_round", "UPDATE OF applied_at"),
    Point("a fit", "league_fit", "INSERT"),
    Point("a void mark", "league_voidmark", "INSERT"),
    Point("a correction", "league_revision", "INSERT"),
    Point("a new token", "league_token", "INSERT"),
    Point("a revoked token", "league_token", "DELETE"),
    Point("the result of a swap block", "league_swapblock", "UPDATE OF difference"),
    Point("new swap blocks", "league_swapblock", "INSERT"),
    Point("the end of a comparison", "league_comparison", "UPDATE OF state"),
    Point("the start of a tournament", "league_tournament", "UPDATE OF state"),
)

_FUNCTION = """
CREATE OR REPLACE FUNCTION chaos_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_lock_shared({lock}, TG_ARGV[0]::int);
    PERFORM pg_advisory_unlock_shared({lock}, TG_ARGV[0]::int);
    RETURN NULL;
END $$
"""
_TRIGGERS = """
CREATE OR REPLACE TRIGGER chaos_{key} AFTER {event} ON {table}
FOR EACH ROW {when} EXECUTE FUNCTION chaos_wait({key});
DROP TRIGGER IF EXISTS chaos_{late} ON {table};
CREATE CONSTRAINT TRIGGER chaos_{late} AFTER {event} ON {table} DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW {when} EXECUTE FUNCTION chaos_wait({late})
"""
_WAITING = """
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND NOT granted
"""

WAYS = ("kill before the commit", "kill after the commit", "stop", "kill the backend")


def add_triggers(url: str) -> None:
    """Add the triggers of all points to a database."""
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        connection.execute(_FUNCTION.format(lock=_LOCK))
        for number, point in enumerate(POINTS):
            when = f"WHEN ({point.condition})" if point.condition else ""
            values = {"key": 2 * number, "late": 2 * number + 1, "when": when}
            for statement in _TRIGGERS.format(**values, **point._asdict()).split(";"):
                connection.execute(statement)


def strike_at(
    url: str, number: int, way: str, *, pause: float, seconds: float, among: Collection[Target]
) -> str:
    """Wait until a transaction reaches a point, and strike there; return what was struck, or "".

    Args:
        url: of the database.
        number: of the point in `POINTS`.
        way: one of `WAYS`.
        pause: how long a process is stopped, in seconds.
        seconds: how long to wait for a transaction.
        among: the processes of the league.
    """
    key = 2 * number + (way in ("kill after the commit", "kill the backend"))
    with (
        suppress(psycopg.OperationalError),
        psycopg.connect(url, autocommit=True, connect_timeout=5) as connection,
    ):
        connection.execute("SELECT pg_advisory_lock(%s, %s)", [_LOCK, key])
        backend = _await_backend(connection, key, seconds)
        if backend is None:
            return ""
        if way == "kill the backend":
            os.kill(backend, signal.SIGKILL)
            return "backend"
        client = _client_of(backend, among)
        if client is None:
            return ""
        if way == "kill after the commit":
            strike(client, _COMMIT_SECONDS + pause)
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCK, key])
            _await_commit(connection, backend)
            strike(client, 0.0)
        else:
            strike(client, pause if way == "stop" else 0.0)
        return client.kind
    return ""


def _await_backend(connection: psycopg.Connection[Any], key: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := connection.execute(_WAITING, [_LOCK, key]).fetchone():
            return int(found[0])
        time.sleep(_POLL_SECONDS)
    return None


def _await_commit(connection: psycopg.Connection[Any], backend: int) -> None:
    deadline = time.monotonic() + _COMMIT_SECONDS
    while time.monotonic() < deadline:
        found = connection.execute(
            "SELECT state FROM pg_stat_activity WHERE pid = %s", [backend]
        ).fetchone()
        if found is None or found[0] != "active":
            return
        time.sleep(_POLL_SECONDS)


def _client_of(backend: int, among: Collection[Target]) -> Target | None:
    """Return the process at the other end of a backend's socket; the youngest, if several are."""
    peers = _peers()
    ends = {peers[inode] for inode in _sockets(backend) if inode in peers}
    holders = [target for target in among if ends & _sockets(target.pid)]
    holders = [target for target in holders if not target.kind.startswith("postgres")]
    return max(holders, key=lambda target: int(target.started), default=None)


def _sockets(pid: int) -> set[int]:
    """Return the inodes of the sockets that a process has open."""
    found: set[int] = set()
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                name = str(descriptor.readlink())
                if name.startswith("socket:["):
                    found.add(int(name[8:-1]))
    return found


def _peers() -> dict[int, int]:
    """Return the inode of the other end by the inode of each connected unix socket."""
    found: dict[int, int] = {}
    body = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, _SHOW_PEER, 0, 0)
    header = struct.pack("=IHHII", 16 + len(body), _SOCK_DIAG, _DUMP, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as netlink:
        netlink.send(header + body)
        while True:
            data = netlink.recv(1 << 20)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == _DONE:
                    return found
                _note_peer(data[16:length], found)
                data = data[length + 3 & ~3 :]


def _note_peer(message: bytes, found: dict[int, int]) -> None:
    (inode,) = struct.unpack_from("=I", message, 4)
    at = 16
    while at < len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == _PEER:
            found[inode] = struct.unpack_from("=I", message, at + 4)[0]
        at += length + 3 & ~3
