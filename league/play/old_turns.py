"""The turns of matches that ended long ago: removed with their receipts.

A live match stores a row for each turn. They are kept after its end, because a bot may send its
last move again, and because its owner may check a timeout. The moves of a void match go with its
turns; those of a finished one are in its record.
"""

from datetime import datetime, timedelta
from time import monotonic

import structlog
from django.conf import settings

from bots_sdk.statuses import UNFINISHED
from league.models import LiveMove, Turn

log = structlog.get_logger(__name__)

BATCH = 1000
"""Turns that one statement reads, and one deletes."""
MAX_SECONDS = 60.0
"""A call begins no batch after this time; the next call goes on."""


def remove_old_turns(now: datetime) -> int:
    """Remove the turns of matches that are over and began long ago; return their number.

    Turns are stored in the order of time, so only the oldest ones are read. Each batch is deleted
    by statements of its own, so no lock is held for long.
    """
    ends = monotonic() + MAX_SECONDS
    before = now - timedelta(days=settings.MAX_OUTPUT_DAYS)
    removed, last = 0, 0
    while monotonic() < ends:
        oldest = Turn.objects.filter(pk__gt=last).order_by("pk")
        rows = list(oldest.values_list("pk", "opened_at", "match__status", "match")[:BATCH])
        old = [row for row in rows if row[1] < before]
        over = {pk: match for pk, _, status, match in old if status not in UNFINISHED}
        LiveMove.objects.filter(match__in=set(over.values())).delete()
        Turn.objects.filter(pk__in=over).delete()
        removed += len(over)
        if len(old) < BATCH:
            break
        last = rows[-1][0]
    if removed:
        log.info("turns of old matches were removed", turns=removed)
    return removed
