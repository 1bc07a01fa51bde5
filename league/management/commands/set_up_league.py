"""``manage.py set_up_league``."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from league.queueing import queue
from league.ratings import ladders_to_count
from league.setup import set_up_league

_LOCK_TIMEOUT = "5s"


class Command(BaseCommand):
    """Create the default ladders, house bots and first tournaments where they are missing.

    Run it after each migrate: rows that older versions did not keep are made too.
    """

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "--migrate", action="store_true", help="bring the database up to date first"
        )

    def handle(self, *args: Any, migrate: bool, **options: Any) -> None:
        """Set up what is missing; what takes long a worker does, and failing that the night."""
        if migrate:
            with connection.cursor() as cursor:
                # A migration that waits for a lock makes everybody behind it wait too.
                cursor.execute("SET lock_timeout = %s", [_LOCK_TIMEOUT])
            call_command("migrate", verbosity=0)
        set_up_league()
        for ladder_id in ladders_to_count():
            queue("count_head_to_head", ladder_id)
