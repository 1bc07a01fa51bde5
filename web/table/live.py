"""Matches in play as steps, from the events that the public may see: hands stay hidden."""

from collections.abc import Sequence

from engine.games.events import Event
from web.table.build import build
from web.table.steps import Phase, Step

_SHOWN = 3
"""Steps that a live page shows."""


def live_steps(phases: Sequence[Sequence[Event]], names: Sequence[str]) -> list[Step]:
    """Return the last steps of a match in play, the newest first.

    Args:
        phases: the events of each phase so far, as `league.play.spectating` returns them.
        names: of the bots, by seat.
    """
    steps = build([Phase(events) for events in phases], names)
    if steps.step is None:
        return steps.done[: -_SHOWN - 1 : -1]
    steps.describe_decision()
    return [steps.step, *steps.done[:-_SHOWN:-1]]
