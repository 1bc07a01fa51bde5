"""The nightly check: while a recompute does not give what is stored, the standings are frozen.

Matches and rounds go on: they are what ratings are made of, and are folded again once somebody
has looked (``manage.py recompute LADDER --repair REASON``).
"""

from collections.abc import Sequence

import structlog
from django.db import connection, transaction
from django.utils import timezone

from league.models import Bot, FrozenStanding, Ladder
from league.models.ladders import StandingNumbers
from league.ratings.recomputing import Difference, Recomputed, recompute_up_to

log = structlog.get_logger(__name__)

_LOCK = 0x12_A1
_NAMED = 3
"""Differences that an alarm tells in full."""


def check_ladder(ladder_id: int) -> Recomputed | None:
    """Recompute a ladder; raise the alarm where it differs, lift it where it doesn't any more.

    Records that can't be folded raise it too: nobody can tell then what the ratings should be.

    Returns:
        What was found; None while another checks this ladder.
    """
    if not _begin(ladder_id):
        return None
    try:
        ladder = Ladder.objects.get(pk=ladder_id)
        found = recompute_up_to(ladder)
        with transaction.atomic():
            ladder = Ladder.objects.select_for_update().get(pk=ladder_id)
            if ladder.revision != found.revision:
                return found  # corrected since: the next check tells
            if found.differences or found.damage:
                _raise_alarm(ladder, found)
            else:
                lift_alarm(ladder)
                ladder.checked_at, ladder.checked_round = timezone.now(), found.up_to
                ladder.save(update_fields=["checked_at", "checked_round"])
        return found
    finally:
        _end(ladder_id)


def lift_alarm(ladder: Ladder) -> None:
    """Show the ladder's standings as they are; call it in a transaction with its lock."""
    if not ladder.alarm:
        return
    log.warning("a ladder's alarm is lifted", ladder=ladder.slug, alarm=ladder.alarm)
    ladder.frozen_standings.all().delete()
    ladder.alarm, ladder.frozen_round = "", None
    ladder.save(update_fields=["alarm", "frozen_round"])


def alarms() -> dict[str, str]:
    """Return what is wrong by ladder's slug; nothing, if all is well."""
    return dict(Ladder.objects.exclude(alarm="").values_list("slug", "alarm"))


def _raise_alarm(ladder: Ladder, found: Recomputed) -> None:
    said = [found.damage + "."] if found.damage else []
    if found.differences:
        said.append(_say(found.differences, found.up_to))
    text = " ".join(said)
    log.error("a ladder's ratings differ from its records", ladder=ladder.slug, alarm=text)
    if not ladder.alarm:
        _freeze(ladder)
    ladder.alarm = text
    ladder.save(update_fields=["alarm", "frozen_round"])


def _freeze(ladder: Ladder) -> None:
    names = [field.name for field in StandingNumbers._meta.get_fields()]
    FrozenStanding.objects.bulk_create(
        FrozenStanding(ladder=ladder, bot_id=row.bot_id, **{n: getattr(row, n) for n in names})
        for row in ladder.standings.all()
    )
    last = ladder.rounds.filter(applied_at__isnull=False).order_by("-number")
    ladder.frozen_round = last.values_list("number", flat=True).first() or 0


def _say(differences: Sequence[Difference], up_to: int) -> str:
    count = len(differences)
    shown = differences[:_NAMED]
    names = Bot.objects.in_bulk([each.bot for each in shown])
    said = [
        f"{names[each.bot].name if each.bot in names else f'bot {each.bot}'}, {each.where}: "
        f"stored {_number(each.stored)}, recomputed {_number(each.folded)}"
        for each in shown
    ]
    more = [f"{count - len(shown)} more"] if count > len(shown) else []
    numbers = "number differs" if count == 1 else "numbers differ"
    return f"{count} {numbers}, up to round {up_to}. " + "; ".join(said + more) + "."


def _number(number: int | None) -> str:
    return "nothing" if number is None else str(number)


def _begin(ladder_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s::int)", [_LOCK, ladder_id % 2**31])
        return bool(cursor.fetchone()[0])


def _end(ladder_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s, %s::int)", [_LOCK, ladder_id % 2**31])
