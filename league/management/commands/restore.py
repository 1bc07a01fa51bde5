"""``manage.py restore``."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from league import backups


class Command(BaseCommand):
    """Replace the whole database by a backup. Stop all parts of the league first.

    If the restore fails, the database stays as it was. Afterwards run set_up_league --migrate,
    which updates a backup of an older version, and then recompute.
    """

    help = __doc__
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument("path", type=Path, metavar="FILE", help="a file that backup wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and print what to do next."""
        try:
            backups.restore(options["path"])
        except backups.BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"Restored {options['path']}. Now run manage.py set_up_league --migrate and "
            "manage.py recompute, then start all parts."
        )
