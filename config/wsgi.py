"""The WSGI application that the web server runs, in worker processes that end with it.

Run it with ``granian --interface wsgi --factory config.wsgi:for_worker``.
"""

import multiprocessing
import os
from wsgiref.types import WSGIApplication

from django.core.wsgi import get_wsgi_application

from config.lifetime import end_with_parent
from config.whole_bodies import WholeBodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()

from api.middleware import MAX_UPLOAD_BYTES  # noqa: E402 - it needs Django set up


def for_worker() -> WSGIApplication:
    """Return the application in a worker process, which from now on ends with the server."""
    if server := multiprocessing.parent_process():
        end_with_parent(server.pid or 0)
    return WholeBodies(application, MAX_UPLOAD_BYTES)
