"""The number of blocks that a rank needs: a setting of the ladder, copied to its standings.

An index sorts standings by rank, and it can read columns of its own table only.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef

from league.models import Ladder, Standing
from league.ratings.hiding import request_new_fit


def ladders_with_other_ranked_from() -> list[int]:
    """Return the ids of ladders whose setting has changed since it was copied."""
    others = Standing.objects.filter(ladder=OuterRef("pk")).exclude(
        ranked_from=OuterRef("ranked_from")
    )
    return list(Ladder.objects.filter(Exists(others)).values_list("pk", flat=True))


def copy_ranked_from(ladder_id: int) -> int:
    """Copy a ladder's setting to its standings, and fit again; return the number of standings.

    A bot that loses its rank has no band from then on; the fit makes the bands anew. If another
    transaction holds the ladder's lock, this is left to a later call.
    """
    with transaction.atomic():
        ladder = Ladder.objects.lock_free(pk=ladder_id)
        if ladder is None:
            return 0
        rows = ladder.standings.order_by()
        changed = rows.exclude(ranked_from=ladder.ranked_from).update(
            ranked_from=ladder.ranked_from
        )
        ladder.frozen_standings.update(ranked_from=ladder.ranked_from)
        ranked = rows.ranked().values("pk")
        rows.shown().exclude(pk__in=ranked).update(band=None, best_chance=None)
        if changed:
            request_new_fit(ladder)
    return changed
