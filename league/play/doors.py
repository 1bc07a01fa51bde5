"""Doors: the paths on which calls reach the league, probed as a bot would use them.

Each probe goes through the front to a part of the league, and that part reads the database. So a
probe fails when a bot's call would: if the front, the part or the database is away or too slow.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host

from league.play.outages import PLAY, WEB, Probe

PATHS = {PLAY: "/healthz/play", WEB: "/healthz/web"}
"""The paths of the probes by door."""
TIMEOUT_SECONDS = 1.0
IDLE_SECONDS = 10.0
"""While no turn is open, the time between two probes."""


class Doors:
    """The doors behind one address. It keeps its connections; one thread at a time uses it.

    Attributes:
        address: the URL of the front, as bots reach it; empty if no door is to be probed.
        forgets: whether the doors of an earlier address are to be forgotten: nothing probes them.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.forgets = not self.address
        self._connections: dict[str, HTTPConnection] = {}
        self._threads = ThreadPoolExecutor(len(PATHS), "door")
        self._probed_at = time.monotonic()

    def are_due(self) -> bool:
        """Return whether the doors are to be probed although no turn is open."""
        return bool(self.address) and time.monotonic() - self._probed_at >= IDLE_SECONDS

    def probe(self) -> list[Probe]:
        """Call all doors at once; return what the calls found, after `TIMEOUT_SECONDS` or less."""
        self._probed_at = time.monotonic()
        if not self.address:
            return []
        faults = self._threads.map(self._fault, PATHS, PATHS.values())
        return [
            Probe(door, self.address + path, fault)
            for (door, path), fault in zip(PATHS.items(), faults, strict=True)
        ]

    def close(self) -> None:
        """Close the connections."""
        self._threads.shutdown()
        while self._connections:
            self._connections.popitem()[1].close()

    def _fault(self, door: str, path: str) -> str:
        """Return why a call of a door failed, empty if it succeeded."""
        # The front may have closed a connection that was idle; a bot opens a new one then, too.
        if door in self._connections:
            with suppress(OSError, HTTPException):
                return self._call(door, path)
        try:
            return self._call(door, path)
        except (OSError, HTTPException) as error:
            return str(error) or type(error).__name__

    def _call(self, door: str, path: str) -> str:
        parts = urlsplit(self.address)
        connection = self._connections.get(door)
        if connection is None:
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            connection = kind(parts.netloc, timeout=TIMEOUT_SECONDS)
            self._connections[door] = connection
        try:
            headers = {"Host": _host(parts.hostname or "", parts.netloc)}
            connection.request("GET", parts.path + path, headers=headers)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException):
            del self._connections[door]
            connection.close()
            raise
        return "" if response.status == 200 else f"it answered with status {response.status}"


def _host(hostname: str, netloc: str) -> str:
    """Return a host that the league serves: the address's own, or the first of its names.

    In containers the front's address is a name that only the containers know.
    """
    if validate_host(hostname, settings.ALLOWED_HOSTS):
        return netloc
    names = [name.removeprefix(".") for name in settings.ALLOWED_HOSTS]
    return names[0] if names else "localhost"
