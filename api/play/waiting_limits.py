"""Limits on the requests that wait in one gateway process."""

from collections import Counter
from typing import NamedTuple

from django.conf import settings

from api.problems import ProblemError

RETRY_SECONDS = 5
"""``Retry-After`` of a refusal."""


class _Limit(NamedTuple):
    """The most requests that count for a key, and the problem beyond."""

    key: str
    most: int
    code: str
    what: str


class _Counted:
    """Counts keys while its context lasts; a generator would take 0.5 kB more for each request."""

    __slots__ = ("_keys", "_waiting")

    def __init__(self, waiting: Counter[str], keys: list[str]) -> None:
        self._waiting, self._keys = waiting, keys

    def __enter__(self) -> None:
        self._waiting.update(self._keys)

    def __exit__(self, *_: object) -> None:
        self._waiting.subtract(self._keys)
        for key in self._keys:
            if not self._waiting[key]:
                del self._waiting[key]


class WaitingLimits:
    """Counts waiting requests by client and by address, and the streams among them."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._waiting["all"]

    def from_address(self, address: str, *, is_stream: bool) -> _Counted:
        """Return a context that counts a request of an address; call it before authentication.

        Args:
            address: the client of the request's address, as `throttles` names it.
            is_stream: whether it is a stream of events.

        Raises:
            ProblemError: ``too-many-waiting``, ``too-many-streams`` or ``busy``.
        """
        here = "from your address"
        limits = [
            _Limit(
                f"waiting from {address}",
                settings.MAX_WAITING_PER_ADDRESS,
                "too-many-waiting",
                f"requests {here} are waiting",
            )
        ]
        if is_stream:
            limits.append(
                _Limit(
                    f"streams from {address}",
                    settings.MAX_STREAMS_PER_ADDRESS,
                    "too-many-streams",
                    f"streams {here} are open",
                )
            )
        self._check(limits)
        if self._waiting["all"] >= settings.MAX_WAITING_IN_ALL:
            raise ProblemError(
                "busy",
                f"{self._waiting['all']} requests are waiting already, the maximum. Try again in "
                f"{RETRY_SECONDS} s.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        return _Counted(self._waiting, ["all", *(limit.key for limit in limits)])

    def of_client(self, client: str, *, is_stream: bool) -> _Counted:
        """Return a context that counts a request of a client.

        Args:
            client: the bot, or the address of a spectator, as `throttles` names them.
            is_stream: whether it is a bot's stream; the address alone bounds a spectator's.

        Raises:
            ProblemError: ``too-many-waiting`` or ``too-many-streams``.
        """
        limits = [
            _Limit(
                f"waiting {client}",
                settings.MAX_WAITING_REQUESTS,
                "too-many-waiting",
                "of your requests are waiting",
            )
        ]
        if is_stream:
            limits.append(
                _Limit(
                    f"streams {client}",
                    settings.MAX_STREAMS_PER_BOT,
                    "too-many-streams",
                    "of your streams are open",
                )
            )
        self._check(limits)
        return _Counted(self._waiting, [limit.key for limit in limits])

    def _check(self, limits: list[_Limit]) -> None:
        """Raise the problem of the first limit that is reached."""
        for limit in limits:
            if self._waiting[limit.key] >= limit.most:
                raise ProblemError(
                    limit.code,
                    f"{self._waiting[limit.key]} {limit.what} already, the maximum. Wait until one "
                    "of them ends.",
                    headers={"Retry-After": str(RETRY_SECONDS)},
                )
