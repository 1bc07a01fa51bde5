"""Schedules: when the next tournament of a series starts, and announcing it."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import structlog
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engine.deals import SEED_BYTES, commitment
from league.competitions.event_settings import check_event_settings, settings_of
from league.models import Ladder, Schedule, Tournament

log = structlog.get_logger(__name__)

_told: dict[int, str] = {}
"""By schedule why it could not be read when that was last said here."""


def announce_tournament(
    *,
    title: str,
    ladder: Ladder,
    starts_at: datetime,
    entries_open_at: datetime | None = None,
    schedule: Schedule | None = None,
    scheduled_for: datetime | None = None,
    **event_settings: Any,
) -> Tournament:
    """Store a tournament to come, its seed drawn and committed to before anybody has entered.

    Args:
        title: of the tournament.
        ladder: that it is rated on.
        starts_at: when the first round is drawn.
        entries_open_at: by default now.
        schedule: that makes it.
        scheduled_for: the start of the schedule's that it is made for.
        event_settings: fields of `EventSettings`; those left out are as the model has them.

    Raises:
        ValidationError: by field: what is arranged doesn't go together.
    """
    seed = secrets.token_bytes(SEED_BYTES)
    tournament = Tournament(
        title=title,
        ladder=ladder,
        starts_at=starts_at,
        entries_open_at=entries_open_at or timezone.now(),
        schedule=schedule,
        scheduled_for=scheduled_for,
        seed=seed,
        commitment=commitment(seed),
        **event_settings,
    )
    check_event_settings(tournament)
    tournament.save()
    return tournament


def announce_due() -> None:
    """Announce, for each schedule, its next tournament, when entries for it are to open.

    Of two that do so at once one announces; a schedule that can't be read stops no other.
    """
    for schedule_id in Schedule.objects.filter(active=True).values_list("pk", flat=True):
        try:
            with transaction.atomic():
                _announce_next(schedule_id, timezone.now())
        except Exception as error:
            if _told.get(schedule_id) != repr(error):  # this is tried every second
                _told[schedule_id] = repr(error)
                log.exception(
                    "a schedule's next tournament can't be announced", schedule_id=schedule_id
                )
        else:
            _told.pop(schedule_id, None)


def _announce_next(schedule_id: int, now: datetime) -> None:
    schedule = (
        Schedule.objects.select_for_update(of=("self",), skip_locked=True)
        .select_related("ladder")
        .filter(pk=schedule_id)
        .first()
    )
    if schedule is None:
        return
    starts_at = next_start(schedule, now)
    opens_at = starts_at - timedelta(hours=schedule.entry_hours)
    # It may have been moved since; a version of the league that doesn't move them noted no more.
    made = Q(scheduled_for=starts_at) | Q(scheduled_for=None, starts_at=starts_at)
    if opens_at > now or schedule.tournaments.filter(made).exists():
        return
    announce_tournament(
        title=f"{schedule.title}, {_local(schedule, starts_at):%d %B %Y %H:%M}",
        ladder=schedule.ladder,
        starts_at=starts_at,
        entries_open_at=opens_at,
        schedule=schedule,
        scheduled_for=starts_at,
        **settings_of(schedule),
    )


def check_time_zone(name: str) -> None:
    """Raise unless a time zone is known here by that name.

    Raises:
        ValidationError: it is not.
    """
    if name not in available_timezones():
        raise ValidationError(
            f"There is no time zone {name}; it is a name as Europe/London or UTC."
        )


def next_start(schedule: Schedule, after: datetime) -> datetime:
    """Return the first start of a schedule that is later than a time, in UTC.

    Weekly ones keep their local time through changes of the clocks; a time of day that a change
    leaves out is taken by the offset before it (PEP 495).
    """
    earliest = max(after, schedule.first_at)
    if schedule.every_hours is not None:
        step = timedelta(hours=schedule.every_hours)
        if schedule.first_at > after:
            return schedule.first_at
        return schedule.first_at + step * ((after - schedule.first_at) // step + 1)
    zone = ZoneInfo(schedule.time_zone)
    day = earliest.astimezone(zone).date()
    while True:
        if day.weekday() == schedule.weekday:
            local = datetime.combine(day, schedule.time_of_day, tzinfo=zone)
            start = local.astimezone(UTC)
            if start > after and start >= schedule.first_at:
                return start
        day += timedelta(days=1)


def _local(schedule: Schedule, moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(schedule.time_zone))
