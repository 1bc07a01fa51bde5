"""HTTP/2 by hand: one request over TLS, and the frames that come back.

The clients of this project speak HTTP/1.1 alone, and browsers hide the frames.
"""

import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
_END_STREAM, _END_HEADERS = 1, 4
_STREAM = 1
_SECONDS = 60.0
_STATUS_200 = b"\x88"
"""How HPACK writes ``:status: 200``."""


class Frame(NamedTuple):
    """A frame of HTTP/2."""

    kind: int
    flags: int
    payload: bytes

    @property
    def is_last(self) -> bool:
        """Whether no frame of the answer follows."""
        return self.kind == RST_STREAM or (self.kind in (DATA, HEADERS) and self.flags & 1 != 0)


class Answer(NamedTuple):
    """All frames of a connection up to the end of the answer."""

    frames: list[Frame]

    @property
    def is_ok(self) -> bool:
        """Whether the status is 200."""
        return any(f.kind == HEADERS and f.payload.startswith(_STATUS_200) for f in self.frames)

    @property
    def body(self) -> bytes:
        """The body."""
        return b"".join(frame.payload for frame in self.frames if frame.kind == DATA)

    @property
    def ends_the_connection(self) -> bool:
        """Whether the server lets the client send no more requests on this connection."""
        return any(frame.kind == GOAWAY for frame in self.frames)


class Place(NamedTuple):
    """Where a server listens, under which name, and the certificates to trust."""

    address: tuple[str, int]
    name: str
    certificates: Path


def call(
    place: Place,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    with_length: bool = True,
    token: str = "",
    until: bytes = b"",
) -> Answer:
    """Send a request; return what comes back.

    Args:
        place: the server.
        method: such as ``POST``.
        path: of the request.
        body: at most as long as the window of the server; for Caddy that is 1 MiB.
        with_length: whether to send ``content-length``.
        token: for the header ``authorization``.
        until: text that ends the reading of a stream.
    """
    context = ssl.create_default_context(cafile=place.certificates)
    context.set_alpn_protocols(["h2"])
    fields = {":method": method, ":scheme": "https", ":path": path, ":authority": place.name}
    if with_length:
        fields["content-length"] = str(len(body))
    if token:
        fields["authorization"] = f"Bearer {token}"
    with (
        socket.create_connection(place.address, _SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=place.name) as connection,
    ):
        sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(SETTINGS, 0, 0, b"")
        flags = _END_HEADERS if body else _END_HEADERS | _END_STREAM
        sent += _frame(HEADERS, flags, _STREAM, b"".join(map(_field, fields, fields.values())))
        pieces = [body[at : at + 16_384] for at in range(0, len(body), 16_384)]
        for number, piece in enumerate(pieces, 1):
            sent += _frame(DATA, _END_STREAM * (number == len(pieces)), _STREAM, piece)
        connection.sendall(sent)
        answer = Answer([])
        deadline = time.monotonic() + _SECONDS
        for frame in _frames(connection):
            answer.frames.append(frame)
            if until and until in answer.body:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path}: {answer.body!r}")
        return answer


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload
    )


def _field(name: str, value: str) -> bytes:
    """Return a header for HPACK, without its tables and its compression."""
    return b"\x00" + b"".join(bytes((len(text),)) + text.encode() for text in (name, value))


def _frames(connection: ssl.SSLSocket) -> Iterator[Frame]:
    with connection.makefile("rb") as file:
        while len(head := file.read(9)) == 9:
            length = int.from_bytes(head[:3], "big")
            frame = Frame(head[3], head[4], file.read(length))
            yield frame
            if frame.is_last:
                return
