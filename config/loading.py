"""All of the server's code, loaded at once: what `make up` forks its parts from.

`devserver.forks` imports this module and calls `load` before it forks the first part. What a part
imports later is in its memory alone.
"""

import sys
from importlib import import_module
from types import ModuleType

from django.urls import get_resolver

import api.play.app  # noqa: F401 - the parts import it
import config.wsgi  # noqa: F401
from config.celery import app

PROGRAMS = (
    *("granian.cli", "granian.server.mp", "uvicorn.main", "uvicorn.lifespan.on"),
    *("uvicorn.loops.uvloop", "uvicorn.protocols.http.httptools_impl"),
    *("celery.__main__", "celery.bin.celery", "celery.apps.worker", "celery.apps.beat"),
    *("celery.app.control", "celery.app.events", "celery.app.log", "celery.events"),
    *("celery.concurrency.prefork", "celery.concurrency.thread", "celery.worker.autoscale"),
    *("celery.worker.components", "celery.worker.consumer", "celery.worker.strategy"),
    *("celery.worker.consumer.delayed_delivery", "kombu.mixins", "kombu.transport.redis"),
    *("config.beat", "config.broker", "dbm.dumb", "django.core.cache.backends.redis"),
    *("encodings.latin_1", "league.workers"),
)
"""Modules that programs of the parts load by name as they start."""


def load() -> None:
    """Load what the parts load only as they start: programs, URL patterns and Celery's tasks."""
    # The prompt of `celery amqp` would take 8 MB.
    prompt = sys.modules["click_repl"] = ModuleType("click_repl")
    prompt.__dict__["register_repl"] = lambda group: None
    for name in PROGRAMS:
        import_module(name)
    _ = get_resolver().url_patterns
    app.loader.import_default_modules()
    app.finalize()
