"""The front sends a request again if a part ends in the middle of it, and a bot sees no error."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from devserver.running import CHECKOUT
from devserver.up import BIN, CADDYFILE
from tests.journeys.running import free_port
from tests.serving import serving


class Named(ThreadingHTTPServer):
    """A process of the gateway that keeps the tokens of its requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), NamedHandler)
        self.tokens: set[str] = set()
        self.forwarded: list[str] = []


class NamedHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # each request has its own connection
    server: Named

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.tokens.add(self.headers["Authorization"])
        self.server.forwarded.append(self.headers["X-Forwarded-For"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


class Dying(ThreadingHTTPServer):
    """A part whose worker ends in the middle of each first request.

    Attributes:
        bodies: of all requests.
        cut: set when the front has closed the connection of an export.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[bytes] = []
        self.cut = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Dying

    def do_GET(self) -> None:
        if self.path.endswith("/export"):
            self._export()
            return
        self.server.bodies.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        if len(self.server.bodies) == 1:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _export(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(2**40))
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(bytes(2**16))
        self.close_connection = True
        self.server.cut.set()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def part() -> Iterator[Dying]:
    with serving(Dying()) as server:
        yield server


@pytest.fixture(scope="module")
def port(part: Dying, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a front before the part."""
    upstream = f"127.0.0.1:{part.server_port}"
    with front(upstream, upstream, tmp_path_factory.mktemp("caddy")) as number:
        yield number


@contextmanager
def front(web: str, gateways: str, directory: Path, **variables: str) -> Iterator[int]:
    """Run a front; yield its port, which ``{port}`` in a variable stands for."""
    number = free_port()
    environment = {
        **os.environ,
        "FRONT_HOST": "127.0.0.1",
        "FRONT_ADDRESS": f"http://:{number}",
        "FRONT_WRITE_IDLE": "1s",
        "FRONT_WEB_TIMEOUT": "1s",
        "FRONT_GATEWAY_TIMEOUT": "1s",
        "WEB_UPSTREAM": web,
        "GATEWAY_UPSTREAM": gateways,
        "XDG_DATA_HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory),
        **{name: value.format(port=number) for name, value in variables.items()},
    }
    command: list[str | Path] = [BIN / "caddy", "run", "--adapter", "caddyfile"]
    process = subprocess.Popen(
        [*command, "--config", CHECKOUT / CADDYFILE], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(number)
        yield number
    finally:
        process.kill()
        process.wait()


def wait_for(port: int) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    pytest.fail("the front does not start")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/v1/turns", b"", 200),
        ("POST", "/api/v1/matches/7/moves", b'{"turn": 0, "move": "give 4"}', 200),
        ("POST", "/api/v1/moves", b'{"moves": []}' + b" " * 60_000, 200),
        ("POST", "/api/v1/bots", b'{"name": "feste"}', 503),
    ],
)
def test_only_calls_that_count_once_are_sent_again(
    part: Dying, port: int, method: str, path: str, body: bytes, status: int
) -> None:
    part.bodies.clear()
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    assert connection.getresponse().status == status
    connection.close()
    assert part.bodies == [body] * (2 if status == 200 else 1)


@pytest.mark.parametrize("path", ["ladders/quick/export", "tournaments/7/export"])
def test_the_front_ends_an_export_whose_client_takes_nothing(
    part: Dying, port: int, path: str
) -> None:
    part.cut.clear()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(f"GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert part.cut.wait(20)


def test_all_calls_of_a_bot_go_to_one_gateway_process_and_to_another_if_it_is_away(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(Named()) for _ in range(2)]
        for process in processes:
            threading.Thread(target=process.serve_forever, args=[0.01]).start()
            stack.callback(process.shutdown)
        upstreams = [f"127.0.0.1:{process.server_port}" for process in processes]
        port = stack.enter_context(front(upstreams[0], " ".join(upstreams), tmp_path))
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        stack.callback(connection.close)

        def call(token: str) -> None:
            for method, path in (("POST", "moves"), ("POST", "matches/7/moves"), ("GET", "turns")):
                headers = {"Authorization": token}
                connection.request(method, f"/api/v1/{path}", b"", headers)
                response = connection.getresponse()
                response.read()
                assert response.status == 200

        tokens = {f"Bearer {number}" for number in range(12)}
        for token in sorted(tokens):
            call(token)
        first, second = (process.tokens for process in processes)
        assert first | second == tokens
        assert not first & second
        assert first
        assert second
        processes[1].shutdown()
        processes[1].server_close()
        for token in sorted(second):
            call(token)
        assert first == tokens


@pytest.mark.parametrize("path", ["/", "/api/v1/turns"])
def test_a_part_that_never_answers_is_given_up(path: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        upstream = f"127.0.0.1:{silent.getsockname()[1]}"
        with front(upstream, upstream, tmp_path) as port:
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", path, b"")
            response = connection.getresponse()
            assert (response.status, response.headers["Retry-After"]) == (503, "2")
            connection.close()


@pytest.mark.parametrize(
    ("trusted", "passed_on"),
    [("192.0.2.0/32", "127.0.0.1"), ("127.0.0.0/8", "203.0.113.5, 127.0.0.1")],
)
def test_only_a_trusted_proxy_says_for_whom_a_request_is(
    trusted: str, passed_on: str, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        part = stack.enter_context(Named())
        threading.Thread(target=part.serve_forever, args=[0.01]).start()
        stack.callback(part.shutdown)
        upstream = f"127.0.0.1:{part.server_port}"
        trust = {"FRONT_TRUSTED_PROXIES": trusted}
        port = stack.enter_context(front(upstream, upstream, tmp_path, **trust))
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        stack.callback(connection.close)
        for path in ("/", "/api/v1/turns"):
            connection.request("GET", path, headers={"X-Forwarded-For": "203.0.113.5"})
            connection.getresponse().read()
        assert part.forwarded == [passed_on] * 2


def test_a_front_that_ends_asks_clients_first_to_close_their_connections(
    part: Dying, tmp_path: Path
) -> None:
    part.bodies.append(b"the first request, in which the part ends")
    upstream, admin = f"127.0.0.1:{part.server_port}", tmp_path / "admin.sock"
    given = {"FRONT_SHUTDOWN_DELAY": "60s", "FRONT_ADMIN": f"unix/{admin}"}
    with front(upstream, upstream, tmp_path, **given) as number:
        connection = HTTPConnection("127.0.0.1", number, timeout=30)
        assert kept(connection)
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(admin))
            control.sendall(b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            until = time.monotonic() + 30
            while kept(connection):
                assert time.monotonic() < until
        connection.close()


@pytest.mark.parametrize(
    ("path", "keeps"),
    [
        ("/api/v1/turns", True),
        ("/api/v1/turns/stream", False),
        ("/api/v1/matches/7/events", False),
        ("/api/v1/matches/events?match=7", False),
        ("/tv/events", False),
        ("/play/0a1b2c3d4e5f6071/events", False),
        ("/tournaments/7/events", False),
        ("/tournaments/7/", True),
    ],
)
def test_a_client_does_not_use_the_connection_of_a_stream_again(
    part: Dying, port: int, path: str, keeps: bool
) -> None:
    part.bodies.append(b"the first request, in which the part ends")
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    assert kept(connection, path) == keeps
    connection.close()


def kept(connection: HTTPConnection, path: str = "/") -> bool:
    """Send a request, and return whether the front keeps the connection after its answer."""
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200
    return answer.headers["Connection"] != "close"
