"""The Celery application. Its tasks are in `league.tasks`, its signal handlers in `league.workers`.

Workers bind each task's id to the lines that the task logs, and the id of the request that queued
the task (django-structlog).
"""

import os

from celery import Celery
from celery.signals import worker_process_init
from django_structlog.celery.steps import DjangoStructLogInitStep

from config.lifetime import end_with_parent

_WORKER = os.getpid()
"""The worker itself, in its processes too: they are forked from it."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("league", amqp="config.broker:PromptAMQP")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["league"])
app.steps["worker"].add(DjangoStructLogInitStep)


@worker_process_init.connect
def bind_to_worker(**_: object) -> None:
    """End a process of a worker with the worker."""
    end_with_parent(_WORKER)
