"""Password hashes: Argon2id, and a limit on the hashes that a process computes at a time.

OWASP recommends Argon2id with 19 MiB, two passes and one lane for passwords. On the reference
machine a hash costs 20 ms of CPU time; PBKDF2 with Django's million rounds costs 250 ms, and a
graphics card guesses it far faster.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher

WAIT_SECONDS = 1.0
"""Time for which a hash waits for others."""


class BusyError(Exception):
    """The process computes as many hashes as it may; the request can be sent again."""


class Argon2Hasher(Argon2PasswordHasher):
    """Argon2id with the parameters that OWASP recommends."""

    time_cost = 2
    memory_cost = 19_456
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Return the hash of a password.

        Raises:
            BusyError: too many hashes are being computed.
        """
        with _turn():
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        """Return whether a hash is of a password.

        Raises:
            BusyError: too many hashes are being computed.
        """
        with _turn():
            return bool(super().verify(password, encoded))


class Turns:
    """Lets as many threads compute as it has places, and as many more wait."""

    def __init__(self, places: int) -> None:
        self._running = BoundedSemaphore(places)
        self._inside = BoundedSemaphore(2 * places)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take a place while the context lasts.

        Raises:
            BusyError: too many threads wait, or none of the places becomes free in time.
        """
        if not self._inside.acquire(blocking=False):
            raise BusyError
        try:
            if not self._running.acquire(timeout=WAIT_SECONDS):
                raise BusyError
            try:
                yield
            finally:
                self._running.release()
        finally:
            self._inside.release()


_turns: dict[int, Turns] = {}
"""By number of places, so that a test may change the setting."""


def _turn() -> Any:
    places = max(1, settings.MAX_HASHES)
    return _turns.setdefault(places, Turns(places)).taken()
