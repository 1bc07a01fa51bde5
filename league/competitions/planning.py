"""What organisers do: announce a tournament, change one that has not begun."""

from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from league.competitions.event_settings import check_event_settings
from league.competitions.schedules import announce_tournament
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
    **event_settings: Any,
) -> Tournament:
    """Announce a tournament as an organiser wants it; without a time, entries open now.

    Args:
        title: of the tournament.
        ladder: that it is rated on.
        starts_at: when the first round is drawn.
        entries_open_at: by default now.
        event_settings: fields of `EventSettings`.

    Raises:
        ValidationError: by field: a time has passed, is too far off, or the times are in the
            wrong order; or what is arranged doesn't go together.
    """
    opens_at = entries_open_at or timezone.now()
    _check_times(opens_at, starts_at)
    return announce_tournament(
        title=title,
        ladder=ladder,
        starts_at=starts_at,
        entries_open_at=opens_at,
        **event_settings,
    )


def change_tournament(*, tournament: Tournament, **changes: Any) -> Tournament:
    """Change a tournament that has not begun.

    Args:
        tournament: to change.
        changes: ``title``, ``starts_at``, ``entries_open_at`` and fields of `EventSettings`.

    Raises:
        ValidationError: it has begun (``tournament-begun``), or by field: as `plan_tournament`,
            or entries are open already.
    """
    with transaction.atomic():
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state not in (State.ANNOUNCED, State.ENTRIES_OPEN):
            raise ValidationError(f"{locked} is {locked.state}.", code="tournament-begun")
        if "entries_open_at" in changes and locked.state != State.ANNOUNCED:
            raise ValidationError({"entries_open_at": "Entries are open already."})
        for field, value in changes.items():
            setattr(locked, field, value)
        if changes.keys() & {"starts_at", "entries_open_at"}:
            _check_times(locked.entries_open_at, locked.starts_at)
        check_event_settings(locked)
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
