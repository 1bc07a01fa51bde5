"""All of the server's code, loaded at once: what `make up` forks its parts from.

`devserver.forks` imports this module and calls `load` before it forks the first part.
"""

import granian.cli
import granian.server  # noqa: F401 - like the modules above, the parts import it
import uvicorn.loops.uvloop
import uvicorn.main
import uvicorn.protocols.http.httptools_impl  # noqa: F401
from django.urls import get_resolver

import api.play.app  # noqa: F401
import config.wsgi  # noqa: F401
from config.celery import app


def load() -> None:
    """Load what the parts load only as they start: URL patterns and Celery's tasks."""
    _ = get_resolver().url_patterns
    app.loader.import_default_modules()
    app.finalize()
