"""Reading a ladder: its bots in order, their ranks and how they have been doing."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, F, Q, QuerySet, Sum

from league.models import HeadToHead, Ladder, RoundEntry, Standing
from league.models.ladders import RANKED_FROM, is_provisional

ORDER = ("provisional", "-rating", "bot_id")
"""Of a ladder's standings: bots with a rank first. No two rows have the same."""

TREND_ROUNDS = 10
"""A bot's trend is what it won or lost in so many of its ladder's last rounds."""


def standings_in_order(ladder: Ladder) -> QuerySet[Standing]:
    """Return a ladder's standings, best first, provisional bots after the others."""
    return in_order(ladder.standings.all())


def in_order(standings: QuerySet[Standing]) -> QuerySet[Standing]:
    """Return standings, best first, provisional bots after the others."""
    found = standings.select_related("bot__owner").annotate(provisional=is_provisional())
    return found.order_by(*ORDER)


def bots_in_order(ladder: Ladder) -> QuerySet[Standing, int]:
    """Return the ids of a ladder's bots in order, from the index alone: a deep slice is cheap."""
    found = ladder.standings.annotate(provisional=is_provisional())
    return found.order_by(*ORDER).values_list("bot_id", flat=True)


class Found(NamedTuple):
    """A bot that was sought: its id, and its rank unless it is provisional."""

    bot: int
    rank: int | None


_FIND = """
SELECT placed.bot_id, CASE WHEN placed.provisional THEN NULL ELSE placed.rank END
FROM (
    SELECT bot_id, rating, blocks < %s AS provisional,
        rank() OVER (PARTITION BY blocks < %s ORDER BY rating DESC) AS rank
    FROM league_standing WHERE ladder_id = %s
) AS placed
JOIN league_bot AS bot ON bot.id = placed.bot_id
WHERE strpos(bot.name, %s) > 0
ORDER BY placed.provisional, placed.rating DESC, placed.bot_id
"""


def find_bots(ladder: Ladder, wanted: str) -> list[Found]:
    """Return a ladder's bots with a text in their name, in order. Costs one query."""
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [RANKED_FROM, RANKED_FROM, ladder.pk, wanted.lower()])
        return [Found(bot, rank) for bot, rank in cursor.fetchall()]


def add_ranks(rows: Sequence[Standing]) -> None:
    """Give successive rows of one ladder, in order, their ``rank``.

    It is 1 and the bots rated higher; provisional bots have None. Costs one query.
    """
    for row in rows:
        row.rank = None  # type: ignore[attr-defined]
    ranked = [row for row in rows if row.blocks >= RANKED_FROM]
    if not ranked:
        return
    first = ranked[0]
    field = Standing.objects.filter(ladder_id=first.ladder_id, blocks__gte=RANKED_FROM)
    counted = field.filter(rating__gte=first.rating).aggregate(
        higher=Count("pk", filter=Q(rating__gt=first.rating)),
        level=Count("pk", filter=Q(rating=first.rating, bot_id__lt=first.bot_id)),
    )
    rank, before = counted["higher"] + 1, counted["higher"] + counted["level"]
    rating = first.rating
    for number, row in enumerate(ranked, before + 1):
        if row.rating != rating:
            rank, rating = number, row.rating
        row.rank = rank  # type: ignore[attr-defined]


def add_trends(ladder: Ladder, rows: Iterable[Standing]) -> None:
    """Give rows of a ladder their ``trend``, in milli-Elo: None if they sat the last rounds out.

    Costs one query.
    """
    bots = [row.bot_id for row in rows]
    last = ladder.rounds.filter(applied_at__isnull=False).order_by("-number")[:TREND_ROUNDS]
    entries = RoundEntry.objects.filter(bot__in=bots, round__in=last.values("pk")).order_by()
    gains = entries.values("bot").annotate(gain=Sum(F("rating_after") - F("rating_before")))
    by_bot = dict(gains.values_list("bot", "gain"))
    for row in rows:
        row.trend = by_bot.get(row.bot_id)  # type: ignore[attr-defined]


def opponents(standing: Standing, count: int) -> list[HeadToHead]:
    """Return those whom a bot has met most on a ladder, with their names."""
    met = HeadToHead.objects.filter(ladder=standing.ladder_id, bot=standing.bot_id)
    return list(met.select_related("opponent").order_by("-pairs", "opponent__name")[:count])


def who_beats_whom(ladder: Ladder, bots: Sequence[int]) -> dict[tuple[int, int], HeadToHead]:
    """Return what some bots took from each other, by bot and opponent, where they have met."""
    met = HeadToHead.objects.filter(ladder=ladder, bot__in=bots, opponent__in=bots)
    return {(row.bot_id, row.opponent_id): row for row in met}
