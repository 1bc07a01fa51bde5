"""``manage.py backup``."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from league import backups
from league.archive_files import ArchiveError
from league.play import archive_copies


class Command(BaseCommand):
    """Write a backup of the whole database while the league runs, and remove the oldest ones.

    New files of the archive are copied into the directory archive beside the backups.

    The setting KEEP_BACKUPS is the number of backups to keep. Store SECRET_KEY in another place: if
    you restore a backup without it, all sessions and tokens stop working.
    """

    help = __doc__
    requires_system_checks = ()  # they load all pages and calls

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "--directory",
            type=Path,
            default=Path(settings.BACKUP_DIRECTORY),
            help="directory of the backups; default: the setting BACKUP_DIRECTORY",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the path of the backup."""
        try:
            path = backups.back_up(options["directory"], timezone.now(), keep=settings.KEEP_BACKUPS)
        except backups.BackupError as error:
            raise CommandError(str(error)) from None
        here = Path.cwd()
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        self.stdout.write(f"{shown}: {path.stat().st_size} bytes")
        # After the database: every file that the backup names is there already.
        try:
            copied = archive_copies.copy(options["directory"])
        except ArchiveError as error:
            raise CommandError(f"Some files of the archive were not copied.\n{error}") from None
        if copied:
            self.stdout.write(f"{copied} new files of the archive were copied.")
