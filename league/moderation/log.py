"""The moderation log: who did what to whom, when and why. Rows are only ever added."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from league.models import Block, Bot, ModerationEntry, Tournament

Action = ModerationEntry.Action

COLUMNS = ("id", "made_at", "made_by", "action", "subject", "reason", "details")
"""The columns of the exports."""
_CHUNK = 500


def note(
    action: Action,
    *,
    made_by: User | None,
    subject: object,
    reason: str = "",
    bot: Bot | None = None,
    account: User | None = None,
    block: Block | None = None,
    tournament: Tournament | None = None,
    **details: Any,
) -> ModerationEntry:
    """Add a row to the log. Call it in the transaction of the decision.

    Args:
        action: what was done.
        made_by: the organiser; None for a command of the operator.
        subject: the bot, account, block or tournament; its text is stored.
        reason: why.
        bot: of the decision, if any.
        account: of the decision, if any.
        block: of the decision, if any.
        tournament: of the decision, if any.
        details: more about the decision, as JSON.
    """
    return ModerationEntry.objects.create(
        action=action,
        made_by=made_by,
        subject=str(subject)[:250],
        reason=" ".join(reason.split())[:500],
        bot=bot,
        account=account,
        block=block,
        tournament=tournament,
        details=details,
    )


def entries(*, action: str = "", wanted: str = "") -> QuerySet[ModerationEntry]:
    """Return rows of the log, the newest first, with the organiser.

    Args:
        action: one of `Action`; "" for all.
        wanted: a text in the subject, the reason or the organiser's name; "" for all.
    """
    found = ModerationEntry.objects.select_related("made_by").order_by("-id")
    if action:
        found = found.filter(action=action)
    if wanted:
        found = found.filter(
            Q(subject__icontains=wanted)
            | Q(reason__icontains=wanted)
            | Q(made_by__username__icontains=wanted)
        )
    return found


def as_ndjson(rows: QuerySet[ModerationEntry]) -> Iterator[str]:
    """Yield the log as JSON Lines, a line for each row."""
    for row in rows.iterator(_CHUNK):
        yield json.dumps(_values(row)) + "\n"


def as_csv(rows: QuerySet[ModerationEntry]) -> Iterator[str]:
    """Yield the log as CSV (RFC 4180), first the names of the columns.

    A text that a spreadsheet would run as a formula gets a quote in front.
    """
    yield _csv_line(COLUMNS)
    for row in rows.iterator(_CHUNK):
        values = {**_values(row), "details": json.dumps(row.details)}
        yield _csv_line(_harmless(values[name]) for name in COLUMNS)


FORMATS: dict[str, tuple[Callable[[QuerySet[ModerationEntry]], Iterator[str]], str]] = {
    "ndjson": (as_ndjson, "application/x-ndjson"),
    "csv": (as_csv, "text/csv; charset=utf-8"),
}
"""By name of the export's format: its function and its content type."""


def _values(row: ModerationEntry) -> dict[str, Any]:
    return {
        "id": row.pk,
        "made_at": row.made_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "made_by": row.made_by.get_username() if row.made_by else None,
        "action": row.action,
        "subject": row.subject,
        "reason": row.reason,
        "details": row.details,
    }


def _csv_line(values: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()


def _harmless(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
