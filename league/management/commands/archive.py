"""``manage.py archive``."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from league import play
from league.archive_files import ArchiveError
from league.play import archive_copies


class Command(BaseCommand):
    """Move the records of all rounds that are older than ARCHIVE_DAYS into files.

    A task does the same, some rounds at a time. With --check, read all files, and list those that
    are missing or damaged. With --restore, put these back from a directory of backups.
    """

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--check",
            action="store_true",
            help="only check the archive: read all its files, and archive nothing",
        )
        choice.add_argument(
            "--restore",
            type=Path,
            metavar="DIRECTORY",
            help="restore missing and damaged files from a directory of backups",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was done; exit with 1 if a file or a round has a fault."""
        if options["restore"] is not None:
            if not options["restore"].is_dir():
                raise CommandError(f"There is no directory {options['restore']}.")
            try:
                restored = archive_copies.restore(options["restore"])
            except ArchiveError as error:
                raise CommandError(str(error)) from None
            self.stdout.write(f"{restored} files were restored.")
            return
        if options["check"]:
            faults = list(archive_copies.faults().values())
        else:
            run = play.archive_due(timezone.now(), max_rounds=None)
            faults = run.faults
            self.stdout.write(f"{run.rounds} rounds were archived, {run.due} still wait.")
        state = play.archive_state()
        self.stdout.write(
            f"The archive has {state.rounds} rounds with {state.matches} matches, "
            f"{state.size} bytes."
        )
        if faults:
            raise CommandError("\n".join([f"Damaged or missing records: {len(faults)}.", *faults]))
