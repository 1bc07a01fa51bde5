"""Overdue turns: the referee plays in the turns whose deadline has passed."""

import math
import time
from datetime import datetime
from functools import partial

import structlog
from django.db.models import Min
from structlog.contextvars import bound_contextvars

from league.models import Turn
from league.play import outages
from league.play.live_match import TIMEOUT, Decision, LiveMatch
from league.play.turn_clocks import Stopwatch
from league.play.writing import change_matches

log = structlog.get_logger(__name__)

MAX_EXPIRED = 500
"""Matches in which one call plays."""


def expire_overdue(now: datetime, *, max_seconds: float = math.inf) -> int:
    """Play the fallback in turns whose deadline has passed; return the number of turns.

    A turn waits until clock and doors are known to have worked up to its deadline.

    Args:
        now: the time.
        max_seconds: time after which no further match is begun.
    """
    began = time.monotonic()
    watch = Stopwatch(now)
    overdue_at = outages.proven_until(watch.start)
    match_ids = (
        Turn.objects.overdue(overdue_at)
        .in_play()
        .values("match")
        .annotate(first=Min("deadline"))
        .order_by("first")
        .values_list("match", flat=True)[:MAX_EXPIRED]
    )
    expired = 0
    for match_id in list(match_ids):
        if time.monotonic() - began > max_seconds:
            break
        with bound_contextvars(match_id=match_id):
            try:  # match by match: a defect in one must not stop the others' clocks
                played = change_matches(
                    {match_id: partial(_play_overdue, overdue_at, watch.start)},
                    watch,
                    overdue_at=overdue_at,
                )
            except Exception:
                log.exception("overdue turns could not be played")
            else:
                expired += sum(played.values())
    return expired


def _play_overdue(overdue_at: datetime, now: datetime, match: LiveMatch) -> Decision[int]:
    """Decide all turns of a match that are overdue at a time; the answer is their number."""
    turns = match.overdue_turns(overdue_at) if match.is_playing else []
    for turn in turns:
        match.play_fallback(turn, TIMEOUT, now)
    return match.decision(len(turns))
