"""The records of a bot's matches, one a line, as they become public."""

from collections.abc import Iterator
from datetime import datetime

from league.models import Bot, Match
from league.play.spectating import public_record_line

_MATCHES = 100
"""Matches read at a time."""


def record_lines(
    bot: Bot, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[bytes]:
    """Yield the public records of a bot's finished matches, the oldest first.

    Args:
        bot: with a seat in the matches.
        since: leave out matches that finished before; None for no limit.
        until: leave out matches that finished then or later; None for no limit.
    """
    finished = Match.objects.without_players().finished().with_bots(bot.pk)
    if since is not None:
        finished = finished.filter(finished_at__gte=since)
    if until is not None:
        finished = finished.filter(finished_at__lt=until)
    matches = finished.with_deals()
    last = 0
    while found := list(matches.filter(pk__gt=last).order_by("pk")[:_MATCHES]):
        last = found[-1].pk
        lines = map(public_record_line, found)
        if piece := "".join(line.rstrip("\n") + "\n" for line in lines if line is not None):
            yield piece.encode()
