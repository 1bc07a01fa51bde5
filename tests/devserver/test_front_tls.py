"""The front with TLS: HTTP/2 has the same limits as HTTP/1.1, and streams last."""

import json
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests import http2
from tests.devserver.test_front import front
from tests.serving import serving

NAME = "league.localhost"
"""For such a name Caddy signs the certificate itself."""


class Part(ThreadingHTTPServer):
    """A part that returns how many bytes it got, or a stream of three events.

    Attributes:
        calls: the requests that reached it.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Part

    def do_GET(self) -> None:
        self.server.calls.append(self.path)
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(3):
            self.wfile.write(b"data: %d\n\n" % number)

    def do_POST(self) -> None:
        self.server.calls.append(self.path)
        length = self.headers["Content-Length"]
        if length is None:  # a body that the front cuts off at the limit; `WholeBodies` waits too
            self.rfile.read()
            self.close_connection = True
            return
        body = b"%d" % len(self.rfile.read(int(length)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def part() -> Iterator[Part]:
    with serving(Part()) as server:
        yield server


@pytest.fixture(scope="module")
def place(part: Part, tmp_path_factory: pytest.TempPathFactory) -> Iterator[http2.Place]:
    directory = tmp_path_factory.mktemp("front")
    upstream = f"127.0.0.1:{part.server_port}"
    # The redirect would need port 80.
    given = {"FRONT_ADDRESS": f"https://{NAME}:{{port}}", "FRONT_AUTO_HTTPS": "disable_redirects"}
    with ExitStack() as stack:
        port = stack.enter_context(front(upstream, upstream, directory, **given))
        root = directory / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        found = http2.Place(("127.0.0.1", port), NAME, root)
        wait_for_certificate(found)
        yield found


def wait_for_certificate(place: http2.Place) -> None:
    """Caddy listens before it has made its certificates."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(OSError):
            http2.call(place, "GET", "/")
            return
        time.sleep(0.02)
    pytest.fail("the front has no certificate")


@pytest.mark.parametrize("path", ["/tv/events", "/api/v1/turns/stream"])
def test_a_stream_in_http2_does_not_end_its_connection(path: str, place: http2.Place) -> None:
    answer = http2.call(place, "GET", path)
    assert answer.body == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"
    assert not answer.ends_the_connection


@pytest.mark.parametrize("size", [0, 3, 30_000])
def test_a_short_body_in_http2_needs_no_length(size: int, place: http2.Place) -> None:
    answer = http2.call(place, "POST", "/api/v1/bots", b"." * size, with_length=False)
    assert (answer.is_ok, answer.body) == (True, b"%d" % size)


def test_a_body_of_unknown_length_ends_at_the_limit(place: http2.Place) -> None:
    answer = http2.call(place, "POST", "/api/v1/bots", b"." * 65_537, with_length=False)
    problem = json.loads(answer.body)
    assert (problem["status"], problem["code"]) == (413, "body-too-large")
    assert problem["detail"] == "An upload has a file of 8 MiB at most, any other body 64 KiB."


def test_a_move_needs_a_length(part: Part, place: http2.Place) -> None:
    part.calls.clear()
    answer = http2.call(place, "POST", "/api/v1/matches/7/moves", b"{}", with_length=False)
    problem = json.loads(answer.body)
    assert (problem["status"], problem["code"]) == (411, "length-required")
    # A call of an earlier test may still arrive: the front sends it on when it has ended.
    assert not [call for call in part.calls if "moves" in call]
    assert http2.call(place, "POST", "/api/v1/matches/7/moves", b"{}").body == b"2"


def test_no_answer_offers_http3(place: http2.Place) -> None:
    context = ssl.create_default_context(cafile=place.certificates)
    with (
        socket.create_connection(place.address) as plain,
        context.wrap_socket(plain, server_hostname=NAME) as connection,
    ):
        connection.sendall(f"GET / HTTP/1.0\r\nHost: {NAME}\r\n\r\n".encode())
        head = connection.makefile("rb").read().partition(b"\r\n\r\n")[0]
    assert head.startswith(b"HTTP/1.0 200")
    assert b"alt-svc" not in head.lower()
