"""Celery's connections to the broker."""

import pytest
import redis
from django.conf import settings

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
