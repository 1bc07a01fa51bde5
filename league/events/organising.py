"""What organisers do: announce a tournament, change one that has not begun."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from league.events.schedules import announce_tournament
from league.models import Ladder, Tournament

FURTHEST = timedelta(days=2 * 366)
"""How far ahead a tournament may be announced."""

State = Tournament.State


def plan_tournament(
    *,
    title: str,
    ladder: Ladder,
    starts_at: datetime,
    entries_open_at: datetime | None = None,
    house_bots: bool = True,
) -> Tournament:
    """Announce a tournament as an organiser wants it; without a time, entries open now.

    Raises:
        ValidationError: by field: a time has passed, is too far off, or the times are in the
            wrong order.
    """
    opens_at = entries_open_at or timezone.now()
    _check_times(opens_at, starts_at)
    return announce_tournament(
        title=title,
        ladder=ladder,
        starts_at=starts_at,
        entries_open_at=opens_at,
        house_bots=house_bots,
    )


def change_tournament(
    *,
    tournament: Tournament,
    title: str | None = None,
    starts_at: datetime | None = None,
    entries_open_at: datetime | None = None,
    house_bots: bool | None = None,
) -> Tournament:
    """Change a tournament that has not begun; what is None stays as it is.

    Raises:
        ValidationError: it has begun (``tournament-begun``), or by field: as `plan_tournament`,
            or entries are open already.
    """
    with transaction.atomic():
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state not in (State.ANNOUNCED, State.ENTRIES_OPEN):
            raise ValidationError(f"{locked} is {locked.state}.", code="tournament-begun")
        if entries_open_at is not None and locked.state != State.ANNOUNCED:
            raise ValidationError({"entries_open_at": "Entries are open already."})
        changes = {
            "title": title,
            "starts_at": starts_at,
            "entries_open_at": entries_open_at,
            "house_bots": house_bots,
        }
        for field, value in changes.items():
            if value is not None:
                setattr(locked, field, value)
        if starts_at or entries_open_at:
            _check_times(locked.entries_open_at, locked.starts_at)
        locked.save(update_fields=list(changes))
    return locked


def tournaments_with_counts() -> QuerySet[Tournament]:
    """Return all tournaments, each with how many bots are entered."""
    return Tournament.objects.select_related("ladder").annotate(entry_count=Count("entries"))


def _check_times(opens_at: datetime, starts_at: datetime) -> None:
    now = timezone.now()
    if starts_at <= now:
        raise ValidationError({"starts_at": "This time has passed."})
    if starts_at > now + FURTHEST:
        raise ValidationError({"starts_at": "This is more than two years off."})
    if opens_at > starts_at:
        raise ValidationError({"entries_open_at": "Entries must open before the start."})
