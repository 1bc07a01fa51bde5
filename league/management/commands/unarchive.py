"""``manage.py unarchive``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from league import play
from league.archive_files import ArchiveError
from league.models import Round, RoundArchive


class Command(BaseCommand):
    """Put the records of archived rounds back into the database; their files stay.

    If the rounds are older than the setting ARCHIVE_DAYS, the league archives them again. So change
    the setting first, and restart beat and the workers.
    """

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument("ladder", metavar="LADDER", help="slug of the ladder")
        parser.add_argument(
            "rounds",
            nargs="*",
            type=int,
            metavar="ROUND",
            help="numbers of rounds; default: all archived rounds of the ladder",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line for each round."""
        rounds = Round.objects.filter(ladder__slug=options["ladder"], archive__isnull=False)
        if options["rounds"]:
            rounds = rounds.filter(number__in=options["rounds"])
        found = list(rounds.order_by("number"))
        missing = set(options["rounds"]) - {round_.number for round_ in found}
        if missing or not found:
            if not missing:
                raise CommandError(
                    f"There are no archived rounds of a ladder {options['ladder']}. Check its slug."
                )
            named = ", ".join(map(str, sorted(missing)))
            raise CommandError(
                f"No archived rounds on the ladder {options['ladder']} with the numbers: {named}."
            )
        for round_ in found:
            try:
                matches = play.unarchive_round(round_.pk)
            except RoundArchive.DoesNotExist:
                continue  # put back meanwhile
            except ArchiveError as error:
                raise CommandError(str(error)) from None
            self.stdout.write(f"{round_}: {matches} records are in the database again.")
