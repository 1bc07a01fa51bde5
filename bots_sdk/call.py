"""A call of the API as a value: method, path, body, and how to read the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx

Result = TypeVar("Result")


def read_json(response: httpx.Response) -> Any:
    """Return the JSON value in a response."""
    return response.json()


def read_nothing(response: httpx.Response) -> None:
    """Ignore the body of a response."""


def read_bytes(response: httpx.Response) -> bytes:
    """Return the body of a response."""
    return response.content


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """A call.

    Attributes:
        method: the HTTP method.
        path: the path below ``/api/v1/``.
        body: the value to send as JSON; None for no body.
        query: the query parameters; a parameter that is None is left out.
        files: the files of a multipart body by field; ``body`` has the other fields.
        creates: whether it creates an object. The client then sends an ``Idempotency-Key``, so
            that the league runs the call once, however often it is sent.
        key: the ``Idempotency-Key``; the client sets it.
        wait_seconds: how long the league may delay the answer.
        read: returns the result from a successful response.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str | int | float | None] = field(default_factory=dict)
    files: Mapping[str, tuple[str, bytes]] | None = None
    creates: bool = False
    key: str | None = None
    wait_seconds: float = 0.0
    read: Callable[[httpx.Response], Result] = read_json


@dataclass(frozen=True, slots=True)
class Stream:
    """A call that returns server-sent events.

    Attributes:
        path: the path below ``/api/v1/``.
        last_event_id: the id of the last event that you have; the stream goes on after it.
        query: the query parameters; one with several values occurs several times.
    """

    path: str
    last_event_id: str | None = None
    query: Mapping[str, Sequence[int]] = field(default_factory=dict)


def url_path(*parts: str | int) -> str:
    """Return the parts as a path in which every part is quoted."""
    return "/".join(quote(str(part), safe="") for part in parts)
