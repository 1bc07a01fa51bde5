"""Alarms: if a ladder's ratings differ from its records, the nightly check freezes its standings.

Matches and rounds go on, because the ratings can be folded from them again. An operator repairs
the ladder with ``manage.py recompute LADDER --repair REASON``.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from league.models import Bot, FrozenStanding, Ladder
from league.models.standings import StandingNumbers
from league.ratings.recomputing import Difference, Recomputed, recompute_up_to
from league.single_workers import Work, single_worker

log = structlog.get_logger(__name__)

CHECK_EVERY = timedelta(hours=26)
"""A ladder is checked at least this often: once a night, and two hours to spare."""
_NAMED = 3
"""Differences that the text of an alarm lists in full."""


def check_ladder(ladder_id: int) -> Recomputed | None:
    """Recompute a ladder; raise its alarm if numbers differ, and lift it if none does.

    Records that can't be folded raise the alarm too, because the right ratings are unknown then.

    Returns:
        The findings; None while another check of this ladder runs.
    """
    with single_worker(Work.CHECK_OF_LADDER, ladder_id) as free:
        return _check(ladder_id) if free else None


def _check(ladder_id: int) -> Recomputed:
    ladder = Ladder.objects.get(pk=ladder_id)
    found = recompute_up_to(ladder)
    with transaction.atomic():
        ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
        if ladder.revision != found.revision:
            return found  # corrected since; the next check decides
        if found.differences or found.damage:
            _raise_alarm(ladder, found)
        else:
            lift_alarm(ladder)
            ladder.checked_at, ladder.checked_rounds = timezone.now(), found.up_to
            ladder.save(update_fields=["checked_at", "checked_rounds"])
    return found


def take_checks(now: datetime) -> list[int]:
    """Return the ids of all ladders, and note that their checks are queued."""
    Ladder.objects.update(check_queued_at=now)
    return list(Ladder.objects.values_list("pk", flat=True))


def take_overdue_checks(now: datetime) -> list[int]:
    """Return the ids of ladders whose nightly check was missed, and note that they are queued.

    It was missed if the clock was down at night. A new ladder is due a day after its creation.
    """
    since = now - CHECK_EVERY
    missed = Q(check_queued_at__lt=since) | Q(check_queued_at=None, created_at__lt=since)
    due = list(Ladder.objects.filter(missed).values_list("pk", flat=True))
    taken = Ladder.objects.filter(missed, pk__in=due)
    return due if taken.update(check_queued_at=now) else []


def lift_alarm(ladder: Ladder) -> None:
    """End the ladder's alarm and thaw its standings; call it in a transaction with its lock."""
    if not ladder.alarm:
        return
    log.warning("a ladder's alarm is lifted", ladder=ladder.slug, alarm=ladder.alarm)
    ladder.frozen_standings.all().delete()
    ladder.alarm, ladder.frozen_rounds = "", None
    ladder.save(update_fields=["alarm", "frozen_rounds"])


def alarms() -> dict[str, str]:
    """Return the text of each alarm by its ladder's slug; empty if all is well."""
    return dict(Ladder.objects.with_alarm().values_list("slug", "alarm"))


def _raise_alarm(ladder: Ladder, found: Recomputed) -> None:
    parts = [found.damage + "."] if found.damage else []
    if found.differences:
        parts.append(_list_differences(found.differences, found.up_to))
    text = " ".join(parts)
    log.error("a ladder's ratings differ from its records", ladder=ladder.slug, alarm=text)
    if not ladder.alarm:
        _freeze(ladder)
    ladder.alarm = text
    ladder.save(update_fields=["alarm", "frozen_rounds"])


def _freeze(ladder: Ladder) -> None:
    names = [field.name for field in StandingNumbers._meta.get_fields()]
    FrozenStanding.objects.bulk_create(
        FrozenStanding(ladder=ladder, bot_id=row.bot_id, **{n: getattr(row, n) for n in names})
        for row in ladder.standings.all()
    )
    ladder.frozen_rounds = ladder.rounds.last_applied()


def _list_differences(differences: Sequence[Difference], up_to: int) -> str:
    count = len(differences)
    shown = differences[:_NAMED]
    names = Bot.objects.in_bulk([each.bot for each in shown])
    parts = [
        f"{names[each.bot].name if each.bot in names else f'bot {each.bot}'}, {each.where}: "
        f"stored {_number(each.stored)}, recomputed {_number(each.folded)}"
        for each in shown
    ]
    more = [f"{count - len(shown)} more"] if count > len(shown) else []
    numbers = "number differs" if count == 1 else "numbers differ"
    listed = "; ".join(parts + more)
    return (
        f"{up_to} rounds were recomputed, and {count} {numbers}: {listed}. Ratings are in "
        "thousandths."
    )


def _number(number: int | None) -> str:
    return "nothing" if number is None else str(number)
