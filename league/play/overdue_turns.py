"""Overdue turns: the referee plays in the turns whose deadline has passed."""

from datetime import datetime

import structlog
from django.db.models import Min
from structlog.contextvars import bound_contextvars

from league.models import Turn
from league.play import verdicts
from league.play.clocks import Stopwatch
from league.play.live_match import Decision, LiveMatch
from league.play.writing import change_matches

log = structlog.get_logger(__name__)

MAX_EXPIRED = 500
"""Matches in which one call plays."""


def expire_overdue(now: datetime) -> int:
    """Play the fallback in turns whose deadline has passed; return the number of turns."""
    watch = Stopwatch(now)
    match_ids = (
        Turn.objects.overdue(now)
        .in_play()
        .values_list("match", flat=True)
        .annotate(first=Min("deadline"))
        .order_by("first")[:MAX_EXPIRED]
    )
    expired = 0
    for match_id in list(match_ids):
        with bound_contextvars(match_id=match_id):
            try:  # match by match: a defect in one must not stop the others' clocks
                played = change_matches({match_id: lambda match: _play_overdue(match, now)}, watch)
            except Exception:
                log.exception("overdue turns could not be played")
            else:
                expired += sum(played.values())
    return expired


def _play_overdue(match: LiveMatch, now: datetime) -> Decision[int]:
    """Decide all overdue turns of a match; the answer is their number."""
    turns = match.overdue_turns(now) if match.is_playing else []
    for turn in turns:
        match.play_fallback(turn, verdicts.TIMEOUT, now)
    return match.decision(len(turns))
