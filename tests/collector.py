"""A small HTTP server that keeps what is posted to it: a collector of spans and error reports."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple


class Post(NamedTuple):
    """A request that the collector got."""

    path: str
    headers: dict[str, str]
    body: bytes


class Collector:
    """Keeps posts; ``url`` is its address."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.status = 200
        self.url = ""


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector while the context lasts."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.posts.append(Post(self.path, dict(self.headers), body))
            self.send_response(collector.status)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
