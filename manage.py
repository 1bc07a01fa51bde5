#!/usr/bin/env python
"""Django's command line; beside a running `make up`, for its league."""

import os
import sys

from django.core.management import execute_from_command_line

from devserver.running import variables_of_running

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    running = variables_of_running()
    if os.environ.get("DATABASE_URL") in (None, running.get("DATABASE_URL")):
        os.environ.update(running)
    execute_from_command_line(sys.argv)
