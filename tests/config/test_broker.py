"""Celery's connections to the broker."""

import socket
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from kombu.exceptions import OperationalError

from config.broker import PromptConnection


def test_a_channel_whose_connection_is_closed_has_lost_the_broker() -> None:
    """A worker outlives a `redis.ConnectionError` while it acknowledges a task."""
    connection = PromptConnection(settings.CELERY_BROKER_URL)
    channel = connection.channel()
    client = channel.connection.client
    assert client is not None
    channel.connection.client = None  # as kombu does when it closes a connection
    channel._pool = None
    with pytest.raises(redis.ConnectionError, match="is closed"):
        channel.basic_ack("a tag")
    assert isinstance(redis.ConnectionError(), connection.connection_errors)


def test_a_thread_does_not_wait_for_ever_for_a_broker_that_hangs() -> None:
    options: dict[str, Any] = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    shorter = options | {"socket_timeout": options["socket_timeout"] / 20}
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        with (
            PromptConnection(url, transport_options=shorter) as connection,
            pytest.raises(OperationalError, match="Timeout"),
        ):
            connection.Producer().publish({}, routing_key="control", retry=False)


def test_a_worker_that_tries_to_reach_the_broker_counts_as_alive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In Kubernetes a probe would else end all workers, and with them the clock of turns."""
    monkeypatch.setattr(settings, "ALIVE_FILE", str(tmp_path / "alive"))
    failures: list[Any] = []
    with (
        PromptConnection("redis://127.0.0.1:1/0") as connection,
        pytest.raises(OperationalError, match="refused"),
    ):
        connection.ensure_connection(lambda *failure: failures.append(failure), max_retries=1)
    assert failures
    assert (tmp_path / "alive").exists()
