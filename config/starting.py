"""Reading the settings as a program starts."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from league.log_lines import in_json, line_of


def read_settings() -> None:
    """Read Django's settings; if one is missing or wrong, end with one sentence and status 1.

    Every program of the league imports `config` first. Without this, each would show another
    traceback: Django's commands, Celery, uvicorn and granian catch the error at different places.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        _ = settings.SECRET_KEY
    except ImproperlyConfigured as error:
        if in_json() and not sys.stderr.isatty():
            line = line_of(str(error), level="critical", logger="config")
            sys.exit(line)
        sys.exit(str(error))
