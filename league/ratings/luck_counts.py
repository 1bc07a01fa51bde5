"""Count how much of a ladder's numbers is luck, and store it for its page.

A count reads thousands of blocks. So a task makes it, and requests read what is stored.
"""

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from league.models import Fit, Ladder, LuckCount, TwinErrors
from league.ratings.noise import band_splits, block_error, tests_of_twins
from league.ratings.twins import twins_on

EVERY = timedelta(minutes=10)
"""The shortest time between two counts of a ladder: a few new blocks change little."""
_NEVER = datetime(2000, 1, 1, tzinfo=UTC)


def take_luck_counts(now: datetime) -> list[int]:
    """Return the ids of ladders to count, and note that they are queued.

    A ladder is due if performance was fitted, or the ladder corrected, since its last count. It is
    returned at most once in `EVERY`.
    """
    uncounted = Ladder.objects.filter(luck_count=None)
    LuckCount.objects.bulk_create(
        (LuckCount(ladder=ladder) for ladder in uncounted), ignore_conflicts=True
    )
    fits = Fit.objects.filter(
        round__ladder=OuterRef("ladder"),
        finished_at__gt=Coalesce(OuterRef("counted_at"), _NEVER),
    )
    free = Q(queued_at=None) | Q(queued_at__lte=now - EVERY)
    corrected = Q(revision__isnull=False) & ~Q(revision=F("ladder__revision"))
    due = LuckCount.objects.filter(free).filter(Exists(fits) | corrected)
    return [
        ladder_id
        for pk, ladder_id in list(due.values_list("pk", "ladder"))
        if LuckCount.objects.filter(free, pk=pk).update(queued_at=now)
    ]


def count_luck(ladder_id: int) -> LuckCount:
    """Count the luck on a ladder and store it; safe to call any number of times."""
    began = timezone.now()  # a fit that ends after this may be missing from the count
    ladder = Ladder.objects.get(pk=ladder_id)
    found = []
    for twins in twins_on(ladder):
        bands = band_splits(ladder, twins.bot, twins.twin)
        tests = tests_of_twins(ladder, twins.bot, twins.twin)
        found.append(
            TwinErrors(
                bot=twins.bot,
                twin=twins.twin,
                fits=bands.fits,
                apart=bands.apart,
                blocks=tests.blocks,
                ended=tests.ended,
                better=tests.better,
                not_better=tests.not_better,
            )
        )
    error = block_error(ladder)
    with transaction.atomic():
        LuckCount.objects.get_or_create(ladder=ladder)
        count = LuckCount.objects.select_for_update().get(ladder=ladder)
        count.counted_at = began
        count.revision = ladder.revision
        count.block_error = error
        count.save(update_fields=["counted_at", "revision", "block_error"])
        count.twins.all().delete()
        for row in found:
            row.count = count
        TwinErrors.objects.bulk_create(found)
    return count


def last_luck_count(ladder: Ladder) -> LuckCount | None:
    """Return the last count of a ladder's newest revision; None before there is one."""
    counts = LuckCount.objects.filter(ladder=ladder, counted_at__isnull=False)
    return counts.filter(revision=ladder.revision).first()
