"""Silences: time in which no clock ran counts against nobody.

The league was stopped, its machine slept, PostgreSQL or the broker was away: bots could not reach
it, or it them. What is kept is until when the clocks of turns have run. Whoever comes first after
a silence moves the deadlines of open turns by as much of it as each turn was open for.
"""

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from league.models import Clock, Turn

log = structlog.get_logger(__name__)

MAX_SILENCE = timedelta(seconds=5)
"""Between two ticks of a clock that runs; they are a second apart when nothing is in their way."""


def note_tick(now: datetime) -> None:
    """Note that the clock runs, having given back to open turns the time in which it did not."""
    with transaction.atomic(durable=True):
        Clock.objects.get_or_create(pk=Clock.ONLY, defaults={"ran_until": now})
        _catch_up(now)


def make_up(now: datetime) -> bool:
    """Give back a silence that ends now, if there was one; return whether deadlines may be others.

    For those who find a turn overdue before the clock has ticked again. It costs a query.
    """
    if not Clock.objects.filter(ran_until__lt=now - MAX_SILENCE).exists():
        return False
    with transaction.atomic(durable=True):
        _catch_up(now)
    return True


def _catch_up(now: datetime) -> None:
    """Let the clock have run until now. Of two that do so at once the second finds it done."""
    clock = Clock.objects.select_for_update().get(pk=Clock.ONLY)
    since = clock.ran_until
    if now <= since:
        return
    if now - since > MAX_SILENCE:
        # PostgreSQL's GREATEST passes over what is null. Receipts stay as they are.
        began = Greatest(Value(since), F("opened_at"), F("handed_out_at"))
        moved = Turn.objects.filter(decided_at__isnull=True, opened_at__lt=now).update(
            deadline=F("deadline") + (Value(now) - began)
        )
        log.warning(
            "the clock did not run; open deadlines move by that time",
            seconds=round((now - since).total_seconds()),
            open_turns=moved,
        )
    clock.ran_until = now
    clock.save(update_fields=["ran_until"])
