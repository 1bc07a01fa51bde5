"""What Celery's workers report: that they started, that they live, and whether a sandbox holds.

`league.apps` imports this module, which connects the handlers to Celery's signals.
"""

import logging
from threading import Thread

from celery import current_app
from celery.signals import heartbeat_sent, worker_ready

from league import health
from league.bots import jails

log = logging.getLogger(__name__)


@worker_ready.connect
def note_start(**_: object) -> None:
    """Note that a worker started: the next tick queues again what a killed worker had in hand."""
    try:
        health.note_worker_started()
    except Exception as error:
        log.warning("a worker's start was not noted, so lost tasks wait for their lease: %s", error)


@worker_ready.connect
def prove_sandbox(**_: object) -> None:
    """Prove the sandbox in the background when a worker starts, so that `/readyz` can show it."""
    Thread(target=jails.prove, name="sandbox", daemon=True).start()


@heartbeat_sent.connect
def note_heartbeat(**_: object) -> None:
    """Note that a worker lives, and which queues it serves, for `/readyz`."""
    try:
        health.note_worker(current_app.amqp.queues.consume_from)
    except Exception as error:
        log.warning("a worker's heartbeat was not noted: %s", error)
