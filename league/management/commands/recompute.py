"""``manage.py recompute``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from league.models import Bot, Ladder
from league.ratings import check_ladder, correct


class Command(BaseCommand):
    """Fold all rounds of the ladders anew from the records, and compare with what is stored.

    Standings that differ are frozen with an alarm, as by the nightly check; --repair writes what
    the records give, under a new revision of the ledger, and lifts it.
    """

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the ladders to look at, and whether to put them right."""
        parser.add_argument("ladders", nargs="*", metavar="LADDER", help="default: all")
        parser.add_argument("--repair", metavar="REASON", help="it is published")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line a ladder; exit 1 if any number differs and is not put right."""
        wanted = options["ladders"]
        ladders = Ladder.objects.filter(slug__in=wanted) if wanted else Ladder.objects.all()
        missing = set(wanted) - set(ladders.values_list("slug", flat=True))
        if missing:
            raise CommandError(f"There is no ladder {', '.join(sorted(missing))}.")
        wrong = sum([self._look_at(ladder, options["repair"]) for ladder in ladders])
        if wrong:
            raise CommandError(
                f"{wrong} numbers differ from what the records give. Find out why; then "
                "manage.py recompute LADDER --repair REASON puts them right."
            )

    def _look_at(self, ladder: Ladder, repair: str | None) -> int:
        """Return how many numbers of a ladder differ in the end."""
        found = check_ladder(ladder.pk)
        if found is None:
            raise CommandError(f"{ladder.slug} is being checked already; wait for that.")
        if found.damage:
            raise CommandError(
                f"{ladder.slug}: {found.damage}. Restore what is missing, or mark the block void "
                "on its admin page: what is void is not read."
            )
        count = ladder.standings.count()
        self.stdout.write(f"{ladder.slug}: {count} ratings, {len(found.differences)} differ")
        for bot, stored, folded, where in found.differences:
            name = Bot.objects.get(pk=bot).name
            self.stdout.write(f"  {name}, {where}: stored {stored}, folded {folded}")
        if not (found.differences and repair):
            return len(found.differences)
        revision = correct(ladder.pk, reason=repair)
        if revision is None:
            raise CommandError(f"{ladder.slug} is being corrected already; wait for that.")
        self.stdout.write(f"  put right under revision {revision.number}")
        return 0
