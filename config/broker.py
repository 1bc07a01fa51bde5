"""Celery's connections to the broker: after an outage they are back within a second."""

from contextlib import suppress
from typing import Any

from celery.app.amqp import AMQP
from kombu.connection import Connection

_MAX_PAUSE_SECONDS = 1.0


class PromptConnection(Connection):
    """A connection that is tried each second: the pauses of kombu's grow to 30 s.

    It also closes without an error when the broker is away. Else a worker with tasks in hand would
    end, because kombu gives these tasks back over a connection that it has forgotten.
    """

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
        pauses = (interval_start, interval_step, interval_max)
        shorter = (min(pause, _MAX_PAUSE_SECONDS) for pause in pauses)
        connect: Any = super()._ensure_connection
        return connect(errback, max_retries, *shorter, callback, reraise_as_library_errors, timeout)


class PromptAMQP(AMQP):
    """Celery's AMQP, with these connections."""

    Connection = PromptConnection
    BrokerConnection = PromptConnection
