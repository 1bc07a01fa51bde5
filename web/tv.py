"""Tables to watch: the matches in play with the best bots, or a match worth seeing again."""

from collections.abc import Collection, Sequence

from django.db.models import Max

from league.models import Highlight, Match, Standing
from league.visibility import may_see_record, may_watch
from web.selectors.matches import matches_finished, matches_playing
from web.table.tables import Table, table_of

_LOOKED_AT = 30
"""The newest matches in play among which the best bots are looked for."""
_WORTH_SEEING = (Highlight.Kind.COMEBACK, Highlight.Kind.CLOSEST, Highlight.Kind.UPSET)


def live_tables(count: int, without: Collection[int] = ()) -> list[Table]:
    """Return tables of live matches, those with the best bots first; one query a table.

    Args:
        count: the most tables.
        without: ids of matches that are shown already.
    """
    watchable = [
        match
        for match in matches_playing(_LOOKED_AT)
        if match.live and may_watch(match) and match.pk not in without
    ]
    found = map(table_of, _best_first(watchable)[:count])
    return [table for table in found if table is not None and table.is_live]


def worth_seeing(highlights: Sequence[Highlight]) -> Table | None:
    """Return today's best finished match; without highlights, the one that finished last.

    Args:
        highlights: of the last day that has any, with their matches.
    """
    by_kind = {each.kind: each for each in highlights if each.match is not None}
    for kind in _WORTH_SEEING:
        if kind in by_kind and (found := by_kind[kind].match) is not None:
            return table_of(found)
    return next((table_of(match) for match in matches_finished(10) if may_see_record(match)), None)


def _best_first(matches: Sequence[Match]) -> list[Match]:
    """Return matches by the mean of their bots' best ratings, the highest first; one query."""
    bots = {seat.bot_id for match in matches for seat in match.seating.all()}
    rated = Standing.objects.filter(bot__in=bots).values("bot").annotate(best=Max("rating"))
    ratings: dict[int, int] = dict(rated.values_list("bot", "best")) if bots else {}

    def strength(match: Match) -> float:
        seats = match.seating.all()
        return sum(ratings.get(seat.bot_id, 0) for seat in seats) / max(1, len(seats))

    return sorted(matches, key=lambda match: (-strength(match), -match.pk))
