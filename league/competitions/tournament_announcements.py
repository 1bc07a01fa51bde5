"""Announce, change and cancel tournaments before they start.

`league.competitions.schedules` decides when a schedule announces its next tournament.
"""

import secrets
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from engine.deals import SEED_BYTES, commitment
from league.competitions.settings_checks import time_problems, tournament_problems
from league.models import Ladder, Schedule, Tournament
from league.models.settings_problems import require_valid, values_of
from league.visibility import may_see_tournament_seed

NO_REASON = "Decision of the organisers."
"""The public reason if an organiser gives none."""

State = Tournament.State


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
    """Store a tournament to come; its seed is drawn and committed to before any bot is entered.

    Args:
        title: of the tournament.
        ladder: rates the tournament's blocks.
        starts_at: when the first round is drawn.
        entries_open_at: by default now.
        schedule: makes the tournament, if any.
        scheduled_for: the schedule's start that the tournament is made for.
        event_settings: fields of `EventSettings`; the others get the model's defaults.

    Raises:
        ValidationError: by field: a value is not allowed, or values contradict each other.
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
    now = timezone.now()
    tournament.follow_clock(now)
    if tournament.state == State.ENTRIES_OPEN:
        tournament.seen_open_at = now
    check_tournament(tournament)
    tournament.save()
    return tournament


def plan_tournament(
    *,
    title: str,
    ladder: Ladder,
    starts_at: datetime,
    entries_open_at: datetime | None = None,
    **event_settings: Any,
) -> Tournament:
    """Announce a tournament for an organiser: as `announce_tournament`, with checked times.

    Args:
        title: of the tournament.
        ladder: rates the tournament's blocks.
        starts_at: when the first round is drawn.
        entries_open_at: by default now; a time that has passed counts as now.
        event_settings: fields of `EventSettings`.

    Raises:
        ValidationError: by field: the start has passed or is more than two years off, the times
            are in the wrong order; or the event settings contradict each other.
    """
    now = timezone.now()
    opens_at = entries_open_at or now
    check_times(opens_at, starts_at)
    # Nobody could enter before now, so the time before would count as an outage.
    opens_at = max(opens_at, now)
    return announce_tournament(
        title=title,
        ladder=ladder,
        starts_at=starts_at,
        entries_open_at=opens_at,
        **event_settings,
    )


def change_tournament(
    *, tournament: Tournament, read_at: datetime | None = None, **changes: Any
) -> Tournament:
    """Change a tournament that has not started.

    Args:
        tournament: to change.
        read_at: the ``changed_at`` that the caller read; None: change it in any case.
        changes: ``title``, ``starts_at``, ``entries_open_at`` and fields of `EventSettings`.

    Raises:
        ValidationError: it has started (code ``tournament-begun``); somebody else has changed it
            since ``read_at`` (code ``changed-meanwhile``, with both versions); or by field: as
            `plan_tournament`, or entries are open already.
    """
    with transaction.atomic():
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state not in Tournament.NOT_STARTED:
            raise ValidationError(
                f"{locked} is {locked.state}; you can change a tournament only before its start.",
                code="tournament-begun",
            )
        if read_at is not None and _as_shown(read_at) != _as_shown(locked.changed_at):
            raise ValidationError(_both_versions(locked, changes), code="changed-meanwhile")
        if "entries_open_at" in changes and locked.state != State.ANNOUNCED:
            raise ValidationError(
                {"entries_open_at": "Entries are open already, so their opening time can't change."}
            )
        for field, value in changes.items():
            setattr(locked, field, value)
        if changes.keys() & {"starts_at", "entries_open_at"}:
            check_times(locked.entries_open_at, locked.starts_at)
        if "entries_open_at" in changes:
            locked.entries_open_at = max(locked.entries_open_at, timezone.now())
        check_tournament(locked)
        locked.changed_at = timezone.now()
        locked.save(update_fields=[*changes, "changed_at"])
    return locked


def _as_shown(moment: datetime) -> datetime:
    """Return a time in milliseconds, as the API shows it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _both_versions(stored: Tournament, sent: dict[str, Any]) -> str:
    fields = [
        f"{name}: stored {getattr(stored, name)}, yours {value}"
        for name, value in sent.items()
        if getattr(stored, name) != value
    ]
    other = (
        f"{'; '.join(fields)}. "
        if fields
        else "The fields that you sent have the stored values already. "
    )
    return (
        f"Somebody else has changed {stored} since you read it. {other}Read it again, then send "
        "your change with the new changed_at."
    )


def cancel_tournament(*, tournament: Tournament, reason: str = "") -> bool:
    """Cancel a tournament that is not over; return False if it is cancelled already.

    While it runs, its drawn blocks are still played and rated, and no further round opens.

    Raises:
        ValidationError: it is cancelled for another reason (code ``changed-meanwhile``), or
            finished (code ``tournament-begun``).
    """
    reason = reason.strip()[:200]
    with transaction.atomic():
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state == State.CANCELLED:
            if not reason or reason == locked.cancel_reason:
                return False
            raise ValidationError(
                f"{locked} is cancelled already. Stored reason: “{locked.cancel_reason}”. Yours: "
                f"“{reason}”. To change the reason, take the cancellation back first.",
                code="changed-meanwhile",
            )
        if locked.state == State.FINISHED:
            raise ValidationError(
                f"{locked} is {locked.state}; you can cancel it only before its end.",
                code="tournament-begun",
            )
        locked.state, locked.finished_at = State.CANCELLED, timezone.now()
        locked.cancel_reason = reason or NO_REASON
        locked.save(update_fields=["state", "finished_at", "cancel_reason"])
    return True


def restore_tournament(*, tournament: Tournament, starts_at: datetime | None = None) -> Tournament:
    """Take the cancellation of a tournament back: it continues where it was.

    If its seed is public by then, its later rounds have seeds of their own.

    Args:
        tournament: a cancelled one.
        starts_at: the new start, if the tournament had not begun; None: the planned start.

    Raises:
        ValidationError: it is not cancelled (code ``not-cancelled``), or by field: the start has
            passed, or a tournament that had begun gets a new start.
    """
    with transaction.atomic():
        # Under this lock no round is applied, so the seed does not become public meanwhile.
        Ladder.objects.select_for_update(of=("self",)).get(tournaments=tournament.pk)
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state != State.CANCELLED:
            raise ValidationError(
                f"{locked} is {locked.state}, not cancelled; there is nothing to take back.",
                code="not-cancelled",
            )
        if locked.rounds.exists():
            if starts_at is not None:
                raise ValidationError(
                    {"starts_at": "The tournament has begun; leave the start out."}
                )
            if locked.reopened_at is None and may_see_tournament_seed(locked):
                locked.reopened_at = timezone.now()
            locked.state = State.RUNNING
        else:
            locked.starts_at = starts_at or locked.starts_at
            check_times(locked.entries_open_at, locked.starts_at)
            locked.state = State.ANNOUNCED
            now = timezone.now()
            if locked.entries_open_at <= now:
                # Nobody could enter while it was cancelled; that was no outage.
                locked.state, locked.open_seconds = State.ENTRIES_OPEN, 0.0
                locked.entries_open_at = locked.seen_open_at = now
        locked.finished_at, locked.cancel_reason = None, ""
        locked.changed_at = timezone.now()
        locked.save(
            update_fields=[
                *("state", "starts_at", "finished_at", "cancel_reason", "changed_at"),
                *("reopened_at", "entries_open_at", "open_seconds", "seen_open_at"),
            ]
        )
    return locked


def check_tournament(tournament: Tournament) -> None:
    """Raise if a new or changed tournament can't be stored as it is, whatever its times are.

    Raises:
        ValidationError: by field: a value is not allowed, or values contradict each other.
    """
    require_valid(tournament_problems(values_of(tournament)))


def check_times(opens_at: datetime, starts_at: datetime) -> None:
    """Raise if a tournament can't open and start at these times.

    Raises:
        ValidationError: by field.
    """
    times = {"entries_open_at": opens_at, "starts_at": starts_at}
    require_valid(time_problems(times, timezone.now()))
