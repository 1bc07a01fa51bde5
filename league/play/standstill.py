"""A standstill: matches wait in the queue, and no worker plays any.

A worker's main process has heartbeats although it can't start the processes that play.
"""

from datetime import timedelta

from django.utils import timezone

from league.models import Match

STANDSTILL = timedelta(seconds=30)
"""If no worker takes a queued match for so long, and none plays, something is wrong."""


def standing_still() -> int:
    """Return how many queued matches of house bots and hosted bots wait in a standstill.

    The number is 0 while a worker plays a match, or has finished one within `STANDSTILL`.
    """
    now = timezone.now()
    unfinished = Match.objects.unfinished().hosted()
    queued = unfinished.waiting().filter(queued_at__isnull=False)
    # Not `queued_at`: a match whose task is lost is queued again and again.
    waits = queued.filter(created_at__lte=now - STANDSTILL).exists()
    if not waits or unfinished.playing().filter(leased_until__gte=now).exists():
        return 0
    lately = Match.objects.finished().filter(finished_at__gt=now - STANDSTILL, live=False)
    return 0 if lately.exists() else queued.count()
