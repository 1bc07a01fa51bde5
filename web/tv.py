"""Tables to watch: the matches in play with the best bots, or a match worth seeing again."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Max

from league.feeds import last_highlights
from league.models import Highlight, Match, Standing
from league.play.spectating import public_events
from league.visibility import may_see_record, may_watch
from web.selectors.matches import matches_finished, matches_playing
from web.table.live import live_steps
from web.table.replays import replay_steps
from web.table.steps import Step

_LOOKED_AT = 30
"""The newest matches in play among which the best bots are looked for."""
_WORTH_SEEING = (Highlight.Kind.COMEBACK, Highlight.Kind.CLOSEST, Highlight.Kind.UPSET)


class Table(NamedTuple):
    """A match on the screen.

    Attributes:
        match: with its seats.
        step: what the table shows.
        number: of the step in the replay, from 1; 0 for a match in play.
    """

    match: Match
    step: Step
    number: int

    @property
    def is_live(self) -> bool:
        """Whether the match is in play."""
        return not self.number


def live_tables(count: int) -> list[Table]:
    """Return tables of live matches, those with the best bots first; one query a table."""
    watchable = [match for match in matches_playing(_LOOKED_AT) if match.live and may_watch(match)]
    tables = []
    for match in _best_first(watchable)[:count]:
        phases = public_events(match)
        steps = live_steps(phases, _names(match)) if phases is not None else []
        if steps:
            tables.append(Table(match, steps[0], 0))
    return tables


def worth_seeing(highlights: Sequence[Highlight]) -> Table | None:
    """Return today's best finished match; without highlights, the one that finished last.

    Args:
        highlights: of the last day that has any, with their matches.
    """
    by_kind = {each.kind: each for each in highlights if each.match is not None}
    for kind in _WORTH_SEEING:
        if kind in by_kind:
            return _replayed(by_kind[kind].match, by_kind[kind].step)
    open_ = [match for match in matches_finished(10) if may_see_record(match)]
    return _replayed(open_[0], None) if open_ else None


def best_table() -> Table | None:
    """Return the table that the home page shows first; None if no match was ever played."""
    return next(iter(live_tables(1)), None) or worth_seeing(last_highlights())


def _replayed(match: Match | None, number: int | None) -> Table | None:
    """Return a step of a finished match, by default the last."""
    if match is None:
        return None
    steps = replay_steps(Match.objects.get(pk=match.pk).record, _names(match))
    at = min(number or len(steps), len(steps))
    return Table(match, steps[at - 1], at)


def _best_first(matches: Sequence[Match]) -> list[Match]:
    """Return matches by the mean of their bots' best ratings, the highest first; one query."""
    bots = {seat.bot_id for match in matches for seat in match.seating.all()}
    rated = Standing.objects.filter(bot__in=bots).values("bot").annotate(best=Max("rating"))
    ratings: dict[int, int] = dict(rated.values_list("bot", "best")) if bots else {}

    def strength(match: Match) -> float:
        seats = match.seating.all()
        return sum(ratings.get(seat.bot_id, 0) for seat in seats) / max(1, len(seats))

    return sorted(matches, key=lambda match: (-strength(match), -match.pk))


def _names(match: Match) -> list[str]:
    return [seat.bot.name for seat in match.seating.all()]
