"""``manage.py recompute``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from league.models import Bot, Ladder
from league.ratings import check_ladder, correct


class Command(BaseCommand):
    """Recompute the ratings of ladders from their records, and list stored ratings that differ.

    There should be none. If a rating differs, the ladder's standings are frozen and an alarm is
    shown. The nightly check does the same. With --repair, the recomputed ratings replace the stored
    ones under a new revision of the ledger, and the alarm is lifted.
    """

    help = __doc__
    requires_system_checks = ()  # they load all pages and calls

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "ladders", nargs="*", metavar="LADDER", help="slug of a ladder; default: all ladders"
        )
        parser.add_argument(
            "--repair", metavar="REASON", help="repair the ratings; the ledger publishes the reason"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line per ladder; exit with 1 if a rating differs and is not repaired."""
        wanted = options["ladders"]
        ladders = Ladder.objects.filter(slug__in=wanted) if wanted else Ladder.objects.all()
        missing = set(wanted) - set(ladders.values_list("slug", flat=True))
        if missing:
            raise CommandError(f"There is no ladder {', '.join(sorted(missing))}.")
        different, problems = 0, []
        for ladder in ladders:
            try:
                different += self._check(ladder, options["repair"])
            except CommandError as error:  # the other ladders are looked at all the same
                problems.append(str(error))
        if different:
            problems.append(
                f"Stored ratings that differ from the recomputed ones: {different}. Find the "
                "cause, then run manage.py recompute LADDER --repair REASON."
            )
        if problems:
            raise CommandError("\n".join(problems))

    def _check(self, ladder: Ladder, repair: str | None) -> int:
        """Return the number of a ladder's ratings that still differ at the end."""
        found = check_ladder(ladder.pk)
        if found is None:
            raise CommandError(f"{ladder.slug} is being checked already. Try again later.")
        if found.damage:
            raise CommandError(
                f"{ladder.slug}: {found.damage}. Restore the missing record. Or make its block "
                "void on the block's admin page: void blocks need no record."
            )
        count = ladder.standings.count()
        self.stdout.write(f"{ladder.slug}: {count} ratings, {len(found.differences)} differ")
        for bot, stored, folded, where in found.differences:
            name = Bot.objects.get(pk=bot).name
            self.stdout.write(f"  {name}, {where}: stored {stored}, recomputed {folded}")
        if not (found.differences and repair):
            return len(found.differences)
        revision = correct(ladder.pk, reason=repair)
        if revision is None:
            raise CommandError(f"{ladder.slug} is being corrected already. Try again later.")
        self.stdout.write(
            f"  Repaired. The ledger shows the correction as revision {revision.number}."
        )
        return 0
