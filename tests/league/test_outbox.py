"""Outboxes: a server that does not do its part costs items, and nothing else."""

import socket
from collections.abc import Iterator
from threading import Thread

import pytest

from league.outbox import Outbox, post


@pytest.fixture
def other_protocol() -> Iterator[str]:
    """The URL of a server that answers as gRPC does, in HTTP/2."""

    def answer(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.recv(65536)
            connection.sendall(
                b"\0\0\x18\4\0\0\0\0\0\0\4\0\x40\0\0\0\5\0\x40\0\0\0\6\0\0\x20\0\xfe"
            )

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=answer, args=(server,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1/traces"
        thread.join(10)


def test_a_server_of_another_protocol_costs_items_and_one_line_of_the_log(
    other_protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    box = Outbox[int]("spans", lambda _: post(other_protocol, b"{}", {}))
    box.put(1)
    box.flush()
    [line] = caplog.records
    assert "spans can't be sent; they are lost" in str(line.msg)
    assert "the answer is not HTTP" in str(line.msg)
