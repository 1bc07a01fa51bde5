"""The output of uploaded bots: kept for some days and up to a size; the oldest is removed first.

Output stands in the logs of seats and in qualifying matches. Reasons of faults stay when output
goes.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from operator import itemgetter

import structlog
from django.conf import settings
from django.db.models import Sum

from league.models import QualifyingMatch, SeatLog

log = structlog.get_logger(__name__)

BATCH = 500
"""Rows that one statement changes."""
MAX_BATCHES = 200
"""Batches of one call; the next call goes on."""

Row = tuple[datetime, str, int, int]
"""When output was written, its table, its key and its size in bytes."""


def kept_until(written: datetime) -> datetime:
    """Return when output is removed at the latest."""
    return written + timedelta(days=settings.MAX_OUTPUT_DAYS)


def remove_old_output(now: datetime) -> int:
    """Remove output that is too old, or beyond the size in all; return the number of outputs."""
    removed = 0
    before = now - timedelta(days=settings.MAX_OUTPUT_DAYS)
    excess = _stored_bytes() - settings.MAX_OUTPUT_MEGABYTES * 1_000_000
    for _ in range(MAX_BATCHES):
        batch = []
        for row in _oldest():
            written, *_, size = row
            if written >= before and excess <= 0:
                break
            excess -= size
            batch.append(row)
        _remove(batch)
        removed += len(batch)
        if len(batch) < BATCH:
            break
    if removed:
        log.info("old output of bots was removed", outputs=removed)
    return removed


def _stored_bytes() -> int:
    """Return the size of all output; PostgreSQL reads it from two small indexes."""
    return sum(
        rows.aggregate(size=Sum("printed_bytes"))["size"] or 0
        for rows in (
            SeatLog.objects.exclude(printed=""),
            QualifyingMatch.objects.exclude(printed=""),
        )
    )


def _oldest() -> Iterator[Row]:
    """Yield the oldest outputs, at most `BATCH`."""
    seats = SeatLog.objects.exclude(printed="").order_by("written_at")
    matches = QualifyingMatch.objects.exclude(printed="").order_by("played_at")
    in_seats = seats.values_list("written_at", "pk", "printed_bytes")[:BATCH]
    in_matches = matches.values_list("played_at", "pk", "printed_bytes")[:BATCH]
    rows = merge(
        ((written, "seat", key, size) for written, key, size in in_seats),
        ((written, "qualifying", key, size) for written, key, size in in_matches),
        key=itemgetter(0),
    )
    return islice(rows, BATCH)


def _remove(rows: list[Row]) -> None:
    seats = [key for _, table, key, _ in rows if table == "seat"]
    matches = [key for _, table, key, _ in rows if table == "qualifying"]
    if seats:
        logs = SeatLog.objects.filter(pk__in=seats)
        logs.filter(reasons={}).delete()
        logs.update(printed="")
    if matches:
        QualifyingMatch.objects.filter(pk__in=matches).update(printed="")
