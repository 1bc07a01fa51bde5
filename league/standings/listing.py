"""Reading a ladder: its bots in order, and their ranks."""

from collections.abc import Sequence

from django.db.models import Count, Q, QuerySet

from league.models import Ladder, Standing
from league.models.ladders import RANKED_FROM, is_provisional

ORDER = ("provisional", "-rating", "bot_id")
"""Of a ladder's standings: bots with a rank first. No two rows have the same."""


def standings_in_order(ladder: Ladder) -> QuerySet[Standing]:
    """Return a ladder's standings, best first, provisional bots after the others."""
    return in_order(ladder.standings.all())


def in_order(standings: QuerySet[Standing]) -> QuerySet[Standing]:
    """Return standings, best first, provisional bots after the others."""
    found = standings.select_related("bot__owner").annotate(provisional=is_provisional())
    return found.order_by(*ORDER)


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
