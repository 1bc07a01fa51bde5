"""The WSGI application that the web server runs, in worker processes that end with it.

Run it with ``granian --interface wsgi --factory config.wsgi:for_worker``.
"""

import multiprocessing
import os

from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application

from config.lifetime import end_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()


def for_worker() -> WSGIHandler:
    """Return the application in a worker process, which from now on ends with the server."""
    if server := multiprocessing.parent_process():
        end_with_parent(server.pid or 0)
    return application
