"""Builds the steps of a match of any game."""

from collections.abc import Mapping, Sequence

from engine.games.events import MatchStarted
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from web.table.partridge import Tricks
from web.table.steps import Phase, Steps
from web.table.twelve_days import Days

_BUILDERS: Mapping[str, type[Days] | type[Tricks]] = {
    TwelveDays.game: Days,
    Partridge.game: Tricks,
}


def build(phases: Sequence[Phase], names: Sequence[str]) -> Steps:
    """Return the steps of a match.

    Args:
        phases: all phases so far, beginning with the deal.
        names: of the bots, by seat.
    """
    start = phases[0].events[0]
    assert isinstance(start, MatchStarted), "the phases begin with the deal"
    steps = _BUILDERS[start.game](names, start.rules)
    for phase in phases:
        steps.add(phase)
    return steps
