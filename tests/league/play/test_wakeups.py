"""Wake-ups come from one thread of a process, which goes on whatever happens."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import redis
from django.conf import settings

from league.play.wakeups import MATCHES, Publisher, WakeUp


@pytest.fixture
def heard() -> Iterator[redis.client.PubSub]:
    """Listen to the channel of matches."""
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as listener:
        listener.subscribe(MATCHES)
        assert listener.get_message(timeout=10)
        yield listener


def next_matches(heard: redis.client.PubSub) -> set[str]:
    """Return the ids in the next message."""
    message = heard.get_message(timeout=10)
    assert message is not None, "no wake-up came"
    return set(message["data"].decode().split())


def test_threads_that_begin_at_once_share_one_publisher(
    heard: redis.client.PubSub, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = threading.Barrier(2)

    class SlowThread(threading.Thread):
        """A thread that another one may overtake while it is made."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            with suppress(threading.BrokenBarrierError):
                second.wait(0.3)
            super().__init__(*arguments, **options)

    monkeypatch.setattr("league.play.wakeups.Thread", SlowThread)
    publisher, before = Publisher(), set(threading.enumerate())
    threads = [
        threading.Thread(target=publisher.put, args=[WakeUp(match, frozenset())])
        for match in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(threading.enumerate()) - before) == 1
    left = set(map(str, range(8)))
    while left:
        left -= next_matches(heard)


def test_an_unexpected_error_loses_its_message_and_no_later_one(
    heard: redis.client.PubSub, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher, send, failed = Publisher(), Publisher._send, threading.Event()

    def fail_once(*arguments: object) -> None:
        if not failed.is_set():
            failed.set()
            raise ValueError("I/O operation on closed file.")
        send(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(publisher, "_send", lambda *given: fail_once(publisher, *given))
    publisher.put(WakeUp(1, frozenset()))
    assert failed.wait(10)
    publisher.put(WakeUp(2, frozenset()))
    assert next_matches(heard) == {"2"}


def test_a_forked_process_begins_without_a_thread() -> None:
    publisher = Publisher()
    publisher.put(WakeUp(1, frozenset()))
    thread = publisher._thread
    publisher._begin()  # as after a fork
    publisher.put(WakeUp(2, frozenset()))
    assert publisher._thread is not thread
