"""Schedules: when a schedule's next tournament starts, and when it is announced."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import structlog
from django.db import transaction
from django.utils import timezone

from league.competitions.entry_windows import enough_of
from league.competitions.event_settings import settings_of
from league.competitions.setting_aside import set_aside_failed
from league.competitions.settings_checks import first_start_problems, schedule_problems
from league.competitions.tournament_announcements import announce_tournament
from league.models import Schedule, Tournament
from league.models.settings_problems import require_valid, values_of

log = structlog.get_logger(__name__)

_MAX_AHEAD = 10
"""At most so many tournaments of a schedule are announced before their start."""


def announce_scheduled() -> None:
    """Announce each schedule's tournaments once their entries are to open.

    If two processes call this at once, one of them announces. A schedule that fails is set aside
    for a while; the others go on. A start that passes while the league is down is skipped.
    """
    for schedule_id in list(Schedule.objects.active().values_list("pk", flat=True)):
        try:
            with transaction.atomic():
                _announce_next(schedule_id, timezone.now())
        except Exception as error:
            set_aside_failed("schedule", schedule_id, error)
            log.exception(
                "a schedule's next tournament can't be announced", schedule_id=schedule_id
            )


def _announce_next(schedule_id: int, now: datetime) -> None:
    schedule = (
        # no_key: a transaction that stores a tournament of the schedule need not wait for this
        # lock. It may hold the lock of the ladder, for which this one waits.
        Schedule.objects.select_for_update(of=("self",), skip_locked=True, no_key=True)
        .select_related("ladder")
        .filter(pk=schedule_id)
        .first()
    )
    if schedule is None:
        return
    window = timedelta(hours=schedule.entry_hours)
    announced = _announced(schedule, now)
    for starts_at in _starts_due(schedule, now):
        if starts_at not in announced:
            _announce(schedule, starts_at - window, starts_at)


def _starts_due(schedule: Schedule, now: datetime) -> list[datetime]:
    """Return the next starts of a schedule whose entries should be open, at most `_MAX_AHEAD`."""
    window = timedelta(hours=schedule.entry_hours)
    found: list[datetime] = []
    starts_at = next_start(schedule, now)
    while starts_at - window <= now and len(found) < _MAX_AHEAD:
        found.append(starts_at)
        starts_at = next_start(schedule, starts_at)
    return found


def _announced(schedule: Schedule, now: datetime) -> set[datetime]:
    """Return the starts to come for which a schedule has announced a tournament."""
    # By `scheduled_for`, because an organiser may have moved a tournament since.
    planned = Tournament.objects.filter(schedule=schedule.pk, scheduled_for__gt=now)
    return {at for at in planned.values_list("scheduled_for", flat=True) if at is not None}


def _announce(schedule: Schedule, opens_at: datetime, starts_at: datetime) -> None:
    announce_tournament(
        title=f"{schedule.title}, no. {schedule.tournaments.count() + 1}",
        ladder=schedule.ladder,
        starts_at=starts_at,
        entries_open_at=opens_at,
        schedule=schedule,
        scheduled_for=starts_at,
        **settings_of(schedule),
    )


def store_schedule(schedule: Schedule, *, changed: Collection[str] | None = None) -> None:
    """Store a new or changed schedule, and announce its tournaments that are due.

    If the entries of a tournament should be open already, they open now, not earlier: else the
    league would count the time before as an outage. If too little time is left to enter the first
    one, the schedule begins with the start after it. Both are also true for a schedule that was
    paused and is active again.

    Args:
        schedule: to store.
        changed: the names of the changed fields; None for a new schedule.
    """
    now = timezone.now()
    window = timedelta(hours=schedule.entry_hours)
    starts_at = next_start(schedule, now)
    with transaction.atomic():
        # Lock the row, so that upkeep does not announce the same tournaments meanwhile.
        list(
            Schedule.objects.select_for_update(no_key=True).filter(pk=schedule.pk).values_list("pk")
        )
        announced = set() if changed is None else _announced(schedule, now)
        begins_now = schedule.active and (changed is None or starts_at not in announced)
        if begins_now and starts_at - now < enough_of(window):
            starts_at = schedule.first_at = next_start(schedule, starts_at)
            changed = None if changed is None else {*changed, "first_at"}
        schedule.save(update_fields=changed)
        for due in _starts_due(schedule, now) if schedule.active else ():
            if due not in announced:
                _announce(schedule, now, due)


def check_schedule(schedule: Schedule) -> None:
    """Raise if a new or changed schedule can't be stored as it is.

    Raises:
        ValidationError: by field: a value is not allowed, or values contradict each other.
    """
    values = values_of(schedule)
    problems = schedule_problems(values)
    require_valid(problems or first_start_problems(values, timezone.now()))


def next_start(schedule: Schedule, after: datetime) -> datetime:
    """Return the first start of a schedule after a time, in UTC.

    Weekly schedules keep their local time when the clocks change. If a change skips the time of
    day, the offset before the change applies (PEP 495).
    """
    if schedule.every_hours is not None:
        step = timedelta(hours=schedule.every_hours)
        if schedule.first_at > after:
            return schedule.first_at
        return schedule.first_at + step * ((after - schedule.first_at) // step + 1)
    if schedule.time_of_day is None:
        raise ValueError(f"schedule {schedule.pk} is neither hourly nor weekly")
    zone = ZoneInfo(schedule.time_zone)
    day = max(after, schedule.first_at).astimezone(zone).date()
    while True:
        if day.weekday() == schedule.weekday:
            local = datetime.combine(day, schedule.time_of_day, tzinfo=zone)
            start = local.astimezone(UTC)
            if start > after and start >= schedule.first_at:
                return start
        day += timedelta(days=1)
