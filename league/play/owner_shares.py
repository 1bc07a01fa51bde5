"""Fair shares of a worker's threads: the hosted bots of one owner hold only some of them.

A thread waits while a hosted bot thinks. Without a limit, one owner's slow bots could hold every
thread, and all other live tables would wait for them.
"""

from collections import Counter
from collections.abc import Collection
from threading import Lock


class OwnerShares:
    """The threads that play for hosted bots, by owner, and the matches that wait for one."""

    def __init__(self, limit: int) -> None:
        """Create shares.

        Args:
            limit: threads for the bots of one owner at a time.
        """
        self._limit = limit
        self._lock = Lock()
        self._held = Counter[int]()
        self._waiting: dict[int, dict[int, None]] = {}

    def take(self, owners: Collection[int], match_id: int) -> bool:
        """Take a thread for each owner; if one has all of its share, note that the match waits.

        Args:
            owners: ids of the owners whose bots are to move.
            match_id: id of their match.

        Returns:
            Whether the threads were taken.
        """
        with self._lock:
            for owner in owners:
                if self._held[owner] >= self._limit:
                    self._waiting.setdefault(owner, {})[match_id] = None
                    return False
            self._held.update(owners)
            return True

    def give_back(self, owners: Collection[int]) -> list[int]:
        """Give a thread of each owner back; return the ids of matches that waited for them."""
        with self._lock:
            self._held.subtract(owners)
            self._held = +self._held  # without the zeros
            return [match for owner in owners if (match := self._pop_waiting(owner)) is not None]

    def _pop_waiting(self, owner: int) -> int | None:
        waiting = self._waiting.get(owner)
        if not waiting:
            return None
        match_id = next(iter(waiting))
        del waiting[match_id]
        if not waiting:
            del self._waiting[owner]
        return match_id
