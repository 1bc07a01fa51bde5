"""Fair shares: what is in use by client, when most of something is in use."""

from collections import Counter
from threading import Lock

_FULL_PART = 0.75
"""Part in use from which no client gets more than its share."""


class FairShares:
    """Counts what clients hold, and keeps a quarter of it for clients that hold less than a share.

    Any client may hold idle ones. The counts are of this process, so they need no server.
    """

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()
        self._lock = Lock()

    def __len__(self) -> int:
        """Return how many are held in all."""
        return self._held.total()

    def enter(self, client: str, count: int = 1, *, of: int, share: int) -> bool:
        """Count what a client takes, unless it would get more than its share.

        Args:
            client: as `league.accounts.throttles` names it.
            count: how many it takes.
            of: how many there are.
            share: how many a client may hold while three quarters of all are held.

        Returns:
            Whether the client gets them. If it does, call `leave` later.
        """
        with self._lock:
            if self._held.total() >= _FULL_PART * of and self._held[client] >= share:
                return False
            self._held[client] += count
            return True

    def leave(self, client: str, count: int = 1) -> None:
        """Take back what `enter` has counted."""
        with self._lock:
            self._held[client] -= count
            if not self._held[client]:
                del self._held[client]
