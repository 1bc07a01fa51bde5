"""Live matches: starting them, and looking after those in play."""

from datetime import datetime

from django.utils import timezone

from league.play.live_match import Decision, LiveMatch
from league.play.turn_clocks import Stopwatch
from league.play.writing import change_matches


def open_live(match_id: int, now: datetime | None = None) -> bool:
    """Start a live match, or look after one in play; return whether it is in play afterwards.

    A match in play should have all its turns and tasks. If the queue lost a task, for example,
    this opens or queues what is missing.
    """
    plans = {match_id: start_or_look_after}
    return change_matches(plans, Stopwatch(now or timezone.now())).get(match_id, False)


def start_or_look_after(match: LiveMatch) -> Decision[bool]:
    """Start a match, or find what it lacks; the answer is whether it is in play afterwards."""
    if not (match.is_waiting or match.is_playing):
        return match.decision(False)
    if match.is_waiting:
        match.start()
    decision = match.decision(True, look_after=True)
    return decision._replace(answer=not decision.ends)
