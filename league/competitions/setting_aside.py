"""Setting aside: a row that is invalid, or whose step fails, is left out; the rest goes on.

Upkeep checks the stored settings of ladders, schedules, and tournaments that are not over. If a
row is invalid, it is set aside with an alarm, which `/readyz` and the organiser's pages show. When
its settings are valid again, the next upkeep lifts the alarm. If a step of a row fails, the row is
set aside too, and tried again after `RETRY_AFTER`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import structlog
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from league.competitions.settings_checks import (
    ladder_problems,
    schedule_problems,
    tournament_problems,
)
from league.models import Comparison, Ladder, Round, Schedule, Tournament
from league.models.setting_aside import SetAside
from league.models.settings_problems import Problem, values_of

log = structlog.get_logger(__name__)

RETRY_AFTER = timedelta(minutes=1)
_LONGEST = 500

_KINDS: Mapping[str, type[SetAside]] = {
    "ladder": Ladder,
    "tournament": Tournament,
    "schedule": Schedule,
    "round": Round,
    "comparison": Comparison,
}
_UNFINISHED = (*Tournament.NOT_STARTED, Tournament.State.RUNNING)


class Aside(NamedTuple):
    """A row that is set aside.

    Attributes:
        subject: the kind and the name of the row, such as ``ladder twelve-days``.
        reason: why it is set aside.
    """

    subject: str
    reason: str


def check_stored(now: datetime) -> None:
    """Set the rows aside that are invalid, and lift the alarm of those that are valid again."""
    _check_each("ladder", ladder_problems, now)
    _check_each("schedule", schedule_problems, now)
    _check_each("tournament", tournament_problems, now)
    for kind in ("round", "comparison"):
        due = _in_use(kind).exclude(set_aside="").filter(retry_at__lte=now)
        due.update(set_aside="", retry_at=None)


def set_aside_failed(kind: str, row_id: int, error: Exception) -> None:
    """Set a row aside because a step of it failed; a fault of the database does not count.

    Args:
        kind: ``ladder``, ``tournament``, ``schedule``, ``round`` or ``comparison``.
        row_id: of the row.
        error: raised by the step.
    """
    if isinstance(error, OperationalError | InterfaceError):
        return
    text = (
        f"The league failed to work on it: {type(error).__name__}: {' '.join(str(error).split())}"
    )
    rows = _KINDS[kind]._default_manager.filter(pk=row_id)
    rows.update(set_aside=text[:_LONGEST], retry_at=timezone.now() + RETRY_AFTER)


def rows_aside(ladder: Ladder | None = None) -> list[Aside]:
    """Return the rows that are set aside: of one ladder, or of all."""
    found = []
    for kind in _KINDS:
        rows = _in_use(kind).exclude(set_aside="").order_by("pk")
        if ladder is not None:
            rows = rows.filter(**{"pk" if kind == "ladder" else "ladder": ladder.pk})
        name = {"ladder": "slug", "round": "ladder__slug"}.get(kind, "pk")
        number = ("number",) if kind == "round" else ()
        for reason, *named in rows.values_list("set_aside", name, *number):
            subject = f"round {named[1]} of {named[0]}" if number else f"{kind} {named[0]}"
            found.append(Aside(subject, reason))
    return found


def _check_each(
    kind: str, problems_of: Callable[[Mapping[str, Any]], list[Problem]], now: datetime
) -> None:
    manager = _KINDS[kind]._default_manager
    ids = list(_in_use(kind).order_by("pk").values_list("pk", flat=True))
    for row_id, row in _rows(kind, ids).items():
        try:
            row = row or manager.get(pk=row_id)
            problems = problems_of(values_of(row))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # the row can't even be read
            set_aside_failed(kind, row_id, error)
            continue
        reason = " ".join(f"{field}: {text}" for field, text in problems)[:_LONGEST]
        if reason:
            if row.set_aside != reason:
                log.error("a row is set aside", kind=kind, id=row_id, reason=reason)
                manager.filter(pk=row_id).update(set_aside=reason, retry_at=None)
        elif row.set_aside and (row.retry_at is None or row.retry_at <= now):
            log.warning("a row takes part again", kind=kind, id=row_id, was=row.set_aside)
            manager.filter(pk=row_id).update(set_aside="", retry_at=None)


def _in_use(kind: str) -> QuerySet[Any]:
    """Return the rows of a kind that a tick may still change, by an index."""
    match kind:
        case "tournament":
            return Tournament.objects.filter(state__in=_UNFINISHED)
        case "schedule":
            return Schedule.objects.filter(active=True)
        case "round":
            return Round.objects.open()
        case "comparison":
            return Comparison.objects.running()
    return Ladder.objects.all()


def _rows(kind: str, ids: list[int]) -> dict[int, Any]:
    """Return rows by id in one query; None for each of them if a row can't be read."""
    try:
        found: dict[int, Any] = _KINDS[kind]._default_manager.in_bulk(ids)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        return dict.fromkeys(ids)
    return found
