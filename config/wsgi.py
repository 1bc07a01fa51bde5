"""The WSGI application that the web server runs, in worker processes that end with it."""

import multiprocessing
import os

from django.core.wsgi import get_wsgi_application

from config.lifetime import end_with_parent

if server := multiprocessing.parent_process():
    end_with_parent(server.pid or 0)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
