"""``manage.py set_up_league``."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from league.defaults import set_up_league


class Command(BaseCommand):
    """Create the default ladders, house bots and first tournaments where they are missing."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "--migrate", action="store_true", help="bring the database up to date first"
        )

    def handle(self, *args: Any, migrate: bool, **options: Any) -> None:
        """Set up what is missing."""
        if migrate:
            call_command("migrate", verbosity=0)
        set_up_league()
