"""The Celery application."""

import logging
import os
from threading import Thread

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")

app = Celery("league")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["league"])


@worker_ready.connect
def prove_sandbox(**_: object) -> None:
    """Have the sandbox proven when a worker starts, so that ``/readyz`` knows of it."""
    from league.hosting import jails

    Thread(target=jails.prove, name="sandbox", daemon=True).start()


log = logging.getLogger(__name__)


def queue(task: str, *ids: int) -> None:
    """Queue a task of `league.tasks`; if the broker is away, the tick finds what is to be done."""
    try:
        app.send_task(f"league.tasks.{task}", ids, retry=False)
    except Exception as error:
        log.warning("%s%r could not be queued: %s", task, ids, error)
