"""``manage.py set_up_league``."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from league import backups
from league.setup import set_up_league

_LOCK_TIMEOUT = "5s"


class Command(BaseCommand):
    """Create the default ladders, house bots and first tournaments if they are missing.

    Run it after each upgrade, with --migrate. You may run it at any time: it changes nothing that
    exists.
    """

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "--migrate", action="store_true", help="migrate the database to this version first"
        )

    def handle(self, *args: Any, migrate: bool, **options: Any) -> None:
        """Create the missing rows."""
        if backups.is_half_restored():  # else a new league would begin in the empty tables
            raise CommandError(
                "A restore has not ended, so the tables are incomplete. If it was interrupted, run "
                "manage.py restore FILE again (make restore under make up)."
            )
        if migrate:
            with connection.cursor() as cursor:
                # While a migration waits for a lock, all later queries on the table wait behind it.
                cursor.execute("SET lock_timeout = %s", [_LOCK_TIMEOUT])
            call_command("migrate", verbosity=0)
        set_up_league()
