"""Celery's connections to the broker: after an outage they are back within a second."""

from contextlib import suppress
from typing import Any

import redis
from celery.app.amqp import AMQP
from kombu.connection import Connection
from kombu.transport import redis as redis_transport

_MAX_PAUSE_SECONDS = 1.0


class Channel(redis_transport.Channel):
    """A channel that raises an error of the broker when its connection is closed.

    Kombu's channel raises an `AttributeError` instead. That ends a worker which is just
    acknowledging a task.
    """

    def _get_pool(self, asynchronous: bool = False) -> Any:
        """Return a pool of connections.

        Raises:
            redis.ConnectionError: the connection of the channel is closed.
        """
        if self.connection is None or self.connection.client is None:
            raise redis.ConnectionError("the connection to the broker is closed")
        get_pool: Any = super()._get_pool
        return get_pool(asynchronous)


class Transport(redis_transport.Transport):
    """Kombu's transport for Redis and Valkey, with these channels."""

    Channel = Channel


class PromptConnection(Connection):
    """A connection that is tried each second: the pauses of kombu's grow to 30 s.

    It also closes without an error when the broker is away. Else a worker with tasks in hand would
    end, because kombu gives these tasks back over a connection that it has forgotten.
    """

    def get_transport_cls(self) -> Any:
        """Return the class of the transport."""
        get: Any = super().get_transport_cls
        found = get()
        return Transport if found is redis_transport.Transport else found

    def maybe_close_channel(self, channel: Any) -> None:
        """Close a channel; the next tick queues again what it could not give back."""
        close: Any = super().maybe_close_channel
        with suppress(AttributeError):
            close(channel)

    def _ensure_connection(
        self,
        errback: Any = None,
        max_retries: Any = None,
        interval_start: Any = _MAX_PAUSE_SECONDS,
        interval_step: Any = _MAX_PAUSE_SECONDS,
        interval_max: Any = _MAX_PAUSE_SECONDS,
        callback: Any = None,
        reraise_as_library_errors: Any = True,
        timeout: Any = None,
    ) -> Any:
        def note_failure(*failure: Any) -> None:
            from league import heartbeats  # it needs Django set up

            # A restart of the container brings no broker back, and would end the clock of turns.
            heartbeats.touch_file()
            if errback:
                errback(*failure)

        pauses = (interval_start, interval_step, interval_max)
        shorter = (min(pause, _MAX_PAUSE_SECONDS) for pause in pauses)
        connect: Any = super()._ensure_connection
        return connect(
            note_failure, max_retries, *shorter, callback, reraise_as_library_errors, timeout
        )


class PromptAMQP(AMQP):
    """Celery's AMQP, with these connections."""

    Connection = PromptConnection
    BrokerConnection = PromptConnection
