"""Entry windows: how long bots could really enter a tournament, and what follows if they could not.

Entries are open from ``entries_open_at`` to ``starts_at``, by the clock alone. If the league is
down in this time, or the web process can't be reached, nobody can enter. So upkeep notes the time
in which it ran and the clock's probe of that door succeeded (`league.play.outages`). At the start,
a tournament that could hardly be entered is moved, with a public note; it is not cancelled.
"""

from datetime import UTC, datetime, timedelta

import structlog
from django.db.models import F, Q, Value
from django.db.models.functions import Extract, Least

from league.models import Tournament
from league.play import outages

log = structlog.get_logger(__name__)

NOTE_EVERY = timedelta(seconds=10)
"""Upkeep writes the time to a tournament no more often than this."""
MAX_GAP = timedelta(seconds=60)
"""If two notes are further apart, the league was down between them."""
ENOUGH = timedelta(minutes=10)
"""Bots could enter for long enough: this time, or half of the window if that is less."""
SHORTEST_DELAY = timedelta(minutes=1)
LONGEST_DELAY = timedelta(days=1)


def note_open_entries(now: datetime) -> None:
    """Add the time since the last note to the tournaments whose entries are open now.

    If the door to the web process does not work now, that time is left out.
    """
    is_open = Tournament.objects.to_come().filter(entries_open_at__lte=now, starts_at__gt=now)
    due = is_open.filter(Q(seen_open_at=None) | Q(seen_open_at__lte=now - NOTE_EVERY))
    due.filter(seen_open_at=None).update(seen_open_at=now)
    if not outages.web_works():
        due.update(seen_open_at=now)
        return
    since = Least(Extract(Value(now) - F("seen_open_at"), "epoch"), MAX_GAP.total_seconds())
    due.filter(seen_open_at__lt=now).update(
        open_seconds=F("open_seconds") + since, seen_open_at=now
    )


def could_be_entered(tournament: Tournament) -> bool:
    """Return whether bots could enter for long enough, now that the tournament starts."""
    window = tournament.starts_at - tournament.entries_open_at
    seen = tournament.seen_open_at
    was_open = timedelta(seconds=tournament.open_seconds)
    if seen is not None and seen < tournament.starts_at:
        was_open += min(tournament.starts_at - seen, MAX_GAP)
    return was_open >= enough_of(window)


def enough_of(window: timedelta) -> timedelta:
    """Return how long entries must be open for bots to have had time to enter."""
    return min(ENOUGH, window / 2)


def move(tournament: Tournament, now: datetime) -> None:
    """Open the entries again for as long as planned, at most a day; nothing is stored."""
    planned = tournament.starts_at
    window = planned - tournament.entries_open_at
    tournament.entries_open_at = tournament.seen_open_at = now
    tournament.starts_at = now + min(max(window, SHORTEST_DELAY), LONGEST_DELAY)
    tournament.open_seconds = 0.0
    tournament.note = (
        f"The league was down while entries were open, so the start moved from "
        f"{planned.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    )
    log.warning(
        "a tournament could not be entered; its start moves",
        tournament=tournament.pk,
        planned=planned.isoformat(),
        starts_at=tournament.starts_at.isoformat(),
    )
