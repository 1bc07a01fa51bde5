"""Outboxes: if a server fails, items are lost, and nothing else fails."""

import socket
import threading
from collections.abc import Iterator
from threading import Thread

import pytest

from league import durations, outbox
from league.outbox import Outbox, post
from tests.journeys.running import wait_for


@pytest.fixture
def other_protocol() -> Iterator[str]:
    """The URL of a server that answers as gRPC does, in HTTP/2."""

    def answer(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.sendall(
                b"\0\0\x18\4\0\0\0\0\0\0\4\0\x40\0\0\0\5\0\x40\0\0\0\6\0\0\x20\0\xfe"
            )
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=answer, args=(server,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1/traces"
        thread.join(10)


def test_a_server_of_another_protocol_loses_items_and_is_logged_in_one_line(
    other_protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    box = Outbox[int]("spans", lambda _: post(other_protocol, b"{}", {}))
    box.put(1)
    box.flush()
    [line] = caplog.records
    assert "spans can't be sent; they are lost" in str(line.msg)
    assert "the answer is not HTTP" in str(line.msg)


def refuse_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_items_wait_while_the_system_gives_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    box = Outbox[int]("spans", sent.extend)
    monkeypatch.setattr(outbox, "SEND_EVERY_SECONDS", 0.01)
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", refuse_thread)
        box.put(1)
    box.put(2)
    wait_for(lambda: sent == [1, 2], lambda: str(sent))


def test_times_are_counted_while_the_system_gives_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counter = durations._Counter()
    kind = durations.Kind("check", ("ready",))
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", refuse_thread)
        counter.add(kind, 1.0)
    counter.add(kind, 1.0)
    assert counter._timer is not None
    assert counter._timer.is_alive()
    counter._timer.cancel()
    counter._forget()
