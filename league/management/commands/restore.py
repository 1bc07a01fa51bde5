"""``manage.py restore``."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from league import backups
from league.archive_files import ArchiveError
from league.models import RoundArchive
from league.play import archive_copies


class Command(BaseCommand):
    """Replace the whole database with a backup. Stop all parts of the league first.

    Files of the archive that are missing or damaged are copied from the directory of the backup.

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
        self._restore_archive(options["path"].parent)
        self.stdout.write(
            f"Restored {options['path']}. Now run manage.py set_up_league --migrate and "
            "manage.py recompute, then start all parts."
        )

    def _restore_archive(self, directory: Path) -> None:
        """Put the archive's missing files back from the directory of the backup."""
        if RoundArchive._meta.db_table not in connection.introspection.table_names():
            return  # a backup of an older version
        try:
            restored = archive_copies.restore(directory)
        except ArchiveError as error:
            raise CommandError(
                f"The database is restored, but some files of the archive are not:\n{error}\n"
                "Put them into the directory of the backup, then run manage.py archive --restore "
                "DIRECTORY."
            ) from None
        if restored:
            self.stdout.write(f"{restored} files of the archive were restored.")
