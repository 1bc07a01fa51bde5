"""Limits on the requests that wait in one gateway process."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from api.problems import ProblemError

RETRY_SECONDS = 5
"""``Retry-After`` of a refusal."""


class WaitingLimits:
    """Counts waiting requests by client and by address, and the streams among them."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._waiting["all"]

    @contextmanager
    def counted(self, client: str, address: str, *, is_stream: bool) -> Iterator[None]:
        """Count a waiting request while the context lasts.

        Args:
            client: the bot, or the address of a spectator, as `throttles` names them.
            address: the client of the request's address.
            is_stream: whether it is a stream of events.

        Raises:
            ProblemError: ``too-many-waiting``, ``too-many-streams`` or ``busy``.
        """
        keys = ["all", f"waiting {client}", f"waiting from {address}"]
        if is_stream:
            keys += [f"streams {client}", f"streams from {address}"]
        self._check(keys, client == address)
        self._waiting.update(keys)
        try:
            yield
        finally:
            self._waiting.subtract(keys)
            for key in keys:
                if not self._waiting[key]:
                    del self._waiting[key]

    def _check(self, keys: list[str], is_anonymous: bool) -> None:
        """Raise the problem of the first limit that is reached."""
        waiting, waiting_here, *streams = keys[1:]
        self._require(waiting, settings.MAX_WAITING_REQUESTS, "too-many-waiting", "requests wait")
        self._require(
            waiting_here,
            settings.MAX_WAITING_PER_ADDRESS,
            "too-many-waiting",
            "requests from your address wait",
        )
        for key, limit, where in zip(
            streams,
            (settings.MAX_STREAMS_PER_BOT, settings.MAX_STREAMS_PER_ADDRESS),
            ("", " from your address"),
            strict=False,
        ):
            if not (is_anonymous and not where):
                self._require(key, limit, "too-many-streams", f"streams{where} are open")
        if self._waiting["all"] >= settings.MAX_WAITING_IN_ALL:
            raise ProblemError(
                "busy",
                f"{self._waiting['all']} requests wait, and the league holds no more.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )

    def _require(self, key: str, limit: int, code: str, what: str) -> None:
        if self._waiting[key] >= limit:
            raise ProblemError(
                code,
                f"{self._waiting[key]} {what} already; that is the maximum. Wait until one of "
                "them ends.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
