#!/usr/bin/env python
"""Django's command line; beside a running `make up`, for its league."""

import os
import sys

from django.core.management import execute_from_command_line

from league.local.running import variables_of_running

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
    if not {"DATABASE_URL", "REDIS_URL"} & os.environ.keys():
        os.environ.update(variables_of_running())
    execute_from_command_line(sys.argv)
