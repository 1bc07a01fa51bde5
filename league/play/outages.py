"""Outages: if the clock stops for more than 5 s, open deadlines move by the lost time.

The league was stopped, its machine slept, or PostgreSQL or the broker was away, so bots and league
could not reach each other. One row stores the time until which the clock has run. The first
process that runs after an outage moves the deadline of each open turn, by as much of the outage as
the turn was open.
"""

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from league.models import Clock, Turn

log = structlog.get_logger(__name__)

MAX_TICK_GAP = timedelta(seconds=5)
"""Longest time between two ticks of a running clock; usually it is a second."""


def note_tick(now: datetime) -> None:
    """Note that the clock runs; after an outage, first give open turns the lost time."""
    with transaction.atomic(durable=True):
        Clock.objects.get_or_create(pk=Clock.ONLY, defaults={"ran_until": now})
        _catch_up(now)


def give_back_lost_time(now: datetime) -> bool:
    """If an outage ends now, give open turns the lost time; return whether deadlines may differ.

    Call it when a turn is overdue, as the clock may not have ticked yet. It costs a query.
    """
    if not Clock.objects.filter(ran_until__lt=now - MAX_TICK_GAP).exists():
        return False
    with transaction.atomic(durable=True):
        _catch_up(now)
    return True


def _catch_up(now: datetime) -> None:
    """Move the clock to now. If two processes do so at once, the second changes nothing."""
    clock = Clock.objects.select_for_update().get(pk=Clock.ONLY)
    since = clock.ran_until
    if now <= since:
        return
    if now - since > MAX_TICK_GAP:
        # PostgreSQL's GREATEST ignores nulls. Receipts stay as they are.
        began = Greatest(Value(since), F("opened_at"), F("handed_out_at"))
        moved = (
            Turn.objects.open()
            .filter(opened_at__lt=now)
            .update(deadline=F("deadline") + (Value(now) - began))
        )
        log.warning(
            "the clock did not run; open deadlines move by that time",
            seconds=round((now - since).total_seconds()),
            open_turns=moved,
        )
    clock.ran_until = now
    clock.save(update_fields=["ran_until"])
