"""Reading the settings as a program starts."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def read_settings() -> None:
    """Read Django's settings; if one is missing or wrong, end with one sentence and status 1.

    Every program of the league imports `config` first. Without this, each would show another
    traceback: Django's commands, Celery, uvicorn and granian catch the error at different places.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        _ = settings.SECRET_KEY
    except ImproperlyConfigured as error:
        sys.exit(str(error))
