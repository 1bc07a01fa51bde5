"""A body that is refused unread breaks no later request of its connection."""

import socket
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from devserver.running import CHECKOUT
from devserver.up import BIN
from tests.devserver.test_front import wait_for
from tests.journeys.running import free_port

LONG, SHORT = b"[" * 50_000, b"{}"


@pytest.fixture
def port() -> Iterator[int]:
    """Run the league's web server with an application that reads no body; yield its port."""
    port = free_port()
    words = ("--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port))
    command = [str(BIN / "granian"), *words, "--log-level", "error", "tests.config.refusing:whole"]
    with subprocess.Popen(command, cwd=CHECKOUT) as server:
        try:
            wait_for(port)
            yield port
        finally:
            server.terminate()


def test_a_connection_goes_on_after_a_long_body_that_was_refused_unread(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.connect()
    connection.auto_open = 0  # a second connection would hide the fault
    for body in (LONG, SHORT) * 20:
        connection.request("POST", "/", body=body)
        response = connection.getresponse()
        response.read()
        assert response.status == 401
    connection.close()


def test_a_body_of_unknown_length_is_answered_when_it_ends(port: int) -> None:
    """An answer before that could reach a client in place of the front's own one."""
    with socket.create_connection(("127.0.0.1", port), timeout=0.3) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.sendall(b"3\r\n[[[\r\n")
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(30)
        client.sendall(b"0\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 401"
