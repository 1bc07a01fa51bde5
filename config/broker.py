"""Celery's connections to the broker: after an outage they are back within a second."""

from typing import Any

from celery.app.amqp import AMQP
from kombu import Connection

_MAX_PAUSE_SECONDS = 1.0


class PromptConnection(Connection):
    """A connection that is tried each second: the pauses of kombu's grow to 30 s."""

    def _ensure_connection(
        self,
        errback: Any = None,
        max_retries: int | None = None,
        interval_start: float = _MAX_PAUSE_SECONDS,
        interval_step: float = _MAX_PAUSE_SECONDS,
        interval_max: float = _MAX_PAUSE_SECONDS,
        **options: Any,
    ) -> Any:
        pauses = (interval_start, interval_step, interval_max)
        shorter = (min(pause, _MAX_PAUSE_SECONDS) for pause in pauses)
        return super()._ensure_connection(errback, max_retries, *shorter, **options)


class PromptAMQP(AMQP):
    """Celery's AMQP, with these connections."""

    Connection = PromptConnection
    BrokerConnection = PromptConnection
