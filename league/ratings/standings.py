"""Reading a ladder: its bots in order, their ranks and how they have been doing."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, F, Q, QuerySet, Sum

from league.models import HeadToHead, Ladder, Performance, Round, Standing
from league.models.ladders import RANKED_FROM, is_provisional
from league.ratings.hiding import SHOWN
from league.ratings.ledger import round_entries

ORDER = ("hidden", "provisional", "-rating", "bot_id")
"""Of a ladder's standings: bots with a rank first, hidden ones last. No two rows have the same."""

TREND_ROUNDS = 10
"""A bot's trend is what it won or lost in so many of its ladder's last rounds."""


def standings_shown(ladder: Ladder) -> QuerySet[Standing]:
    """Return a ladder's standings; as they were when the alarm was raised, while it stands."""
    if ladder.alarm:
        return ladder.frozen_standings.all()  # type: ignore[return-value]
    return ladder.standings.all()


def standing_shown(row: Standing) -> Standing:
    """Return a standing, which has its ladder and bot, as it may be shown: it may be frozen."""
    if not row.ladder.alarm:
        return row
    frozen = standings_shown(row.ladder).filter(bot=row.bot_id).first() or row
    frozen.ladder, frozen.bot = row.ladder, row.bot
    return frozen


def rounds_shown(ladder: Ladder) -> QuerySet[Round]:
    """Return the rounds that the standings shown are made of, the last first."""
    rounds = ladder.rounds.filter(applied_at__isnull=False)
    if ladder.alarm:
        rounds = rounds.filter(number__lte=ladder.frozen_round or 0)
    return rounds.order_by("-number")


def standings_in_order(ladder: Ladder, *, hidden: bool = False) -> QuerySet[Standing]:
    """Return a ladder's standings, best first, provisional bots after the others.

    Args:
        ladder: to list.
        hidden: whether hidden bots are listed too, after all others.
    """
    return in_order(standings_shown(ladder), hidden=hidden)


def in_order(standings: QuerySet[Standing], *, hidden: bool = False) -> QuerySet[Standing]:
    """Return standings as `standings_in_order` does, with their bots and owners."""
    found = standings.select_related("bot__owner").annotate(provisional=is_provisional())
    return _seen(found, hidden).order_by(*ORDER)


def bots_in_order(ladder: Ladder, *, hidden: bool = False) -> QuerySet[Standing, int]:
    """Return the ids of a ladder's bots in order, from the index alone: a deep slice is cheap."""
    found = standings_shown(ladder).annotate(provisional=is_provisional())
    return _seen(found, hidden).order_by(*ORDER).values_list("bot_id", flat=True)


def _seen(standings: QuerySet[Standing], hidden: bool) -> QuerySet[Standing]:
    return standings if hidden else standings.filter(hidden=SHOWN)


class Found(NamedTuple):
    """A bot that was sought: its id, and its rank unless it is provisional or hidden."""

    bot: int
    rank: int | None


_FIND = """
SELECT placed.bot_id,
    CASE WHEN placed.provisional OR placed.hidden <> '' THEN NULL ELSE placed.rank END
FROM (
    SELECT *, rank() OVER (PARTITION BY hidden, provisional ORDER BY rating DESC) AS rank
    FROM (
        SELECT bot_id, hidden, rating,
            blocks < %s OR (performance_blocks > 0 AND performance_blocks < %s) AS provisional
        FROM {table} WHERE ladder_id = %s AND (%s OR hidden = '')
    ) AS known
) AS placed
JOIN league_bot AS bot ON bot.id = placed.bot_id
WHERE strpos(bot.name, %s) > 0
ORDER BY placed.hidden, placed.provisional, placed.rating DESC, placed.bot_id
"""


def find_bots(ladder: Ladder, wanted: str, *, hidden: bool = False) -> list[Found]:
    """Return a ladder's bots with a text in their name, in order. Costs one query."""
    find = _FIND.format(table=standings_shown(ladder).model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(find, [RANKED_FROM, RANKED_FROM, ladder.pk, hidden, wanted.lower()])
        return [Found(bot, rank) for bot, rank in cursor.fetchall()]


def add_ranks(rows: Sequence[Standing]) -> None:
    """Give successive rows of one ladder, in order, their ``rank``.

    It is 1 and the bots shown and rated higher; provisional and hidden bots have None. Costs one
    query.
    """
    for row in rows:
        row.rank = None  # type: ignore[attr-defined]
    ranked = [row for row in rows if row.blocks_for_rank >= RANKED_FROM and row.hidden == SHOWN]
    if not ranked:
        return
    first = ranked[0]
    everybody = type(first).objects.filter(ladder_id=first.ladder_id)  # frozen among the frozen
    field = everybody.annotate(provisional=is_provisional()).filter(hidden=SHOWN, provisional=False)
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

    Costs one query, and one more where there was a correction.
    """
    bots = [row.bot_id for row in rows]
    last = rounds_shown(ladder)[:TREND_ROUNDS].values("pk")
    entries = round_entries(ladder).filter(bot__in=bots, round__in=last).order_by()
    gains = entries.values("bot").annotate(gain=Sum(F("rating_after") - F("rating_before")))
    by_bot = dict(gains.values_list("bot", "gain"))
    for row in rows:
        row.trend = by_bot.get(row.bot_id)  # type: ignore[attr-defined]


def performances_shown(standing: Standing) -> QuerySet[Performance]:
    """Return a bot's performances on a ladder, round by round; none after a ladder was frozen."""
    found = Performance.objects.filter(bot=standing.bot_id, round__ladder=standing.ladder)
    if standing.ladder.alarm:
        found = found.filter(round__number__lte=standing.ladder.frozen_round or 0)
    return found


def meetings(ladder: Ladder) -> QuerySet[HeadToHead]:
    """Return what each bot took from each that it has met on a ladder, with their names."""
    return HeadToHead.objects.filter(ladder=ladder).select_related("bot", "opponent")


def opponents(standing: Standing, count: int) -> list[HeadToHead]:
    """Return those whom a bot has met most on a ladder, with their names."""
    met = HeadToHead.objects.filter(ladder=standing.ladder_id, bot=standing.bot_id)
    return list(met.select_related("opponent").order_by("-pairs", "opponent__name")[:count])


def who_beats_whom(ladder: Ladder, bots: Sequence[int]) -> dict[tuple[int, int], HeadToHead]:
    """Return what some bots took from each other, by bot and opponent, where they have met."""
    met = HeadToHead.objects.filter(ladder=ladder, bot__in=bots, opponent__in=bots)
    return {(row.bot_id, row.opponent_id): row for row in met}
