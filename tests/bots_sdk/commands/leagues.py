"""The base of leagues that answer in a test instead of over the network."""

from types import TracebackType
from typing import Any, Self

from bots_sdk.call import Call

URL = "http://league.example"


class FakeLeague:
    """A client of no league; subclasses answer the calls."""

    url = URL

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def send(self, call: Call[Any]) -> Any:
        """Return the JSON of the answer to a call."""
        raise NotImplementedError
