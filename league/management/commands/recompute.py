"""``manage.py recompute``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from league.models import Bot, Ladder
from league.standings import recompute


class Command(BaseCommand):
    """Fold all rounds of the ladders anew from the records, and compare with what is stored."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the ladders to look at."""
        parser.add_argument("ladders", nargs="*", metavar="LADDER", help="default: all")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line a ladder; exit 1 if any rating differs."""
        wanted = options["ladders"]
        ladders = Ladder.objects.filter(slug__in=wanted) if wanted else Ladder.objects.all()
        missing = set(wanted) - set(ladders.values_list("slug", flat=True))
        if missing:
            raise CommandError(f"There is no ladder {', '.join(sorted(missing))}.")
        wrong = 0
        for ladder in ladders:
            differences = recompute(ladder)
            wrong += len(differences)
            count = ladder.standings.count()
            self.stdout.write(f"{ladder.slug}: {count} ratings, {len(differences)} differ")
            for bot, stored, folded in differences:
                name = Bot.objects.get(pk=bot).name
                self.stdout.write(f"  {name}: stored {stored}, folded {folded}")
        if wrong:
            raise CommandError(f"{wrong} ratings differ from what the records give.")
