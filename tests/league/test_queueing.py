"""The client of the broker is one for all threads of a process."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
import redis

from league import queueing


def test_threads_that_ask_at_once_get_the_same_client(monkeypatch: pytest.MonkeyPatch) -> None:
    second, from_url = threading.Barrier(2), redis.Redis.from_url

    def slow(*arguments: Any, **options: Any) -> redis.Redis:
        with suppress(threading.BrokenBarrierError):
            second.wait(0.3)
        return from_url(*arguments, **options)

    monkeypatch.setattr(queueing, "_clients", {})
    monkeypatch.setattr("redis.Redis.from_url", slow)
    with ThreadPoolExecutor(4) as pool:
        clients = list(pool.map(lambda _: queueing.broker(), range(4)))
    assert len(set(map(id, clients))) == 1
