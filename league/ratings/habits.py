"""Habits of a bot on a ladder beside those of the field, counted from the last records.

To unpack a record and count takes 2 to 4 ms. So the number of matches is bounded, and a
count is kept for some minutes.
"""

from typing import NamedTuple

from django.core.cache import cache
from redis.exceptions import RedisError

from engine import habits
from engine.record import Record
from league.models import Ladder, Match, Standing
from league.ratings.last_matches import MATCHES, rated_seats
from league.ratings.standings import public_rounds

FIELD_MATCHES = 100
"""So many of a ladder's last rated matches are the field; all seats at them count."""
_FIELD_ROUNDS = 100
"""They are looked for in so many of the last rounds."""
_KEPT_SECONDS = 600


class Rate(NamedTuple):
    """A habit of a bot.

    Attributes:
        name: as in `engine.habits`.
        text: the words after "it".
        did: how often the bot did it.
        times: how often it could.
        share: ``did / times``.
        field: the share of all seats in the field; None if none of them could.
    """

    name: str
    text: str
    did: int
    times: int
    share: float
    field: float | None


class Habits(NamedTuple):
    """The habits of a bot's current version on a ladder.

    Attributes:
        rates: in the order of `engine.habits.names`.
        matches: the matches of the version that were counted.
        field_matches: the matches of the field.
    """

    rates: list[Rate]
    matches: int
    field_matches: int


_Sums = dict[str, tuple[int, int]]
_Count = tuple[int, _Sums]
"""Matches counted, and by habit how often it was done and could have been."""


def habits_on(standing: Standing) -> Habits | None:
    """Return the habits of a bot's current version on a ladder; None before its first match.

    Args:
        standing: with its ladder and bot.
    """
    ladder, bot = standing.ladder, standing.bot
    key = f"habits-{ladder.pk}-{standing.bot_id}-{bot.current_id}"
    matches, sums = _kept(key) or _keep(key, _count_version(standing))
    if not matches:
        return None
    key = f"habits-{ladder.pk}"
    field_matches, field = _kept(key) or _keep(key, _count_field(ladder, standing))
    rates = []
    for name, text in habits.names(ladder.game, ladder.rules).items():
        did, times = sums.get(name, (0, 0))
        others, of = field.get(name, (0, 0))
        if times:
            rates.append(Rate(name, text, did, times, did / times, others / of if of else None))
    return Habits(rates, matches, field_matches)


def _count_version(standing: Standing) -> _Count:
    seats = rated_seats(standing).of_bot(standing.bot_id)
    seats = seats.filter(version=standing.bot.current_id)
    rows = seats.order_by("-match_id").values_list("match", "seat")[:MATCHES]
    return _sum(dict(rows))


def _count_field(ladder: Ladder, standing: Standing) -> _Count:
    rounds = list(public_rounds(ladder).values_list("pk", flat=True)[:_FIELD_ROUNDS])
    seats = rated_seats(standing).filter(match__block__round__in=rounds)
    matches = seats.order_by("-match_id").values_list("match", flat=True).distinct()
    return _sum(dict.fromkeys(matches[:FIELD_MATCHES]))


def _sum(wanted: dict[int, int | None]) -> _Count:
    """Count the habits in matches by their ids; of one seat, or with None of all seats."""
    sums: dict[str, tuple[int, int]] = {}
    rows = Match.objects.finished().filter(pk__in=wanted).select_related("block__round")
    for match in rows:
        tallies = _tallies(match.record)
        seat = wanted[match.pk]
        for tally in tallies if seat is None else [tallies[seat]]:
            for name, (did, times) in tally.items():
                before = sums.get(name, (0, 0))
                sums[name] = (before[0] + did, before[1] + times)
    return len(wanted), sums


def _tallies(record: Record) -> list[habits.Tally]:
    faults = {fault.ply for fault in record.faults}
    return habits.count(record.game, record.rules, record.seats, record.moves, faults)


def _kept(key: str) -> _Count | None:
    try:
        found: _Count | None = cache.get(key)
    except RedisError:
        return None
    return found


def _keep(key: str, count: _Count) -> _Count:
    try:
        cache.set(key, count, timeout=_KEPT_SECONDS)
    except RedisError:  # then each page counts
        return count
    return count
