"""Addresses of a league on this machine, and its port."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from devserver.place import ServersError

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Hosts that stand for every address of this machine, and its own address among them."""


def allowed_hosts(host: str) -> str:
    """Return ALLOWED_HOSTS for a front that is bound to a host.

    A front that is bound to every address can be reached by all names of the machine. This list
    can't have them all, so it allows any name.
    """
    if host in EVERYWHERE:
        return "*"
    return ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", in_url(host)]))


def address(host: str, port: int) -> str:
    """Return the URL by which this machine reaches a front that is bound to a host."""
    return f"http://{in_url(EVERYWHERE.get(host, host))}:{port}/"


def in_url(host: str) -> str:
    """Return a host as URLs write it."""
    return f"[{host}]" if ":" in host else host


@contextmanager
def held(host: str, port: int) -> Iterator[None]:
    """Keep a port for the front of this league while the context lasts.

    The front shares its port with any program that asks to share it. So without this, two leagues
    that start at the same moment get the same port, and each gets some of the other's requests.

    Raises:
        ServersError: the port can't be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe, socket.socket(family) as holder:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServersError(
                f"Port {port} on {host} can't be used ({error.strerror}). Try make up PORT=8001."
            ) from None
        probe.close()
        # The holder never listens, so the front gets all connections.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        with suppress(OSError):  # old connections of another program may block it for a minute
            holder.bind((host, port))
        yield
