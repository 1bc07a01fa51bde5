"""How much of a ladder's numbers is luck, for its page."""

from collections.abc import Iterable
from typing import NamedTuple

from django.core.cache import cache

from engine.rating.noise import Noise
from league.competitions.settings_checks import k_problems
from league.models import Ladder
from league.ratings import noise
from league.ratings.match_results import k_schedule
from league.ratings.twins import Twins

_KEPT_SECONDS = 600
"""Counting reads thousands of blocks, and a few new ones change little."""


class Apart(NamedTuple):
    """The league's errors about two equal bots: of rank bands and of A/B tests."""

    bands: noise.BandSplits
    tests: noise.TestsOfEqualBots


def noise_of(ladder: Ladder) -> list[Noise]:
    """Return the noise of a ladder's numbers; empty if its K schedule is invalid."""
    if k_problems(ladder.k_schedule):
        return []
    return noise.noise_of(ladder, k_schedule(ladder.k_schedule))


def told_apart(ladder: Ladder, pairs: Iterable[Twins]) -> dict[int, Apart]:
    """Return the errors about twins, by the id of the first twin; up to 10 minutes old."""
    found: dict[int, Apart] = {}
    for twins in pairs:
        key = f"apart-{ladder.pk}-{ladder.revision}-{twins.bot.pk}"
        apart: Apart | None = cache.get(key)
        if apart is None:
            apart = _count(ladder, twins)
            cache.set(key, apart, _KEPT_SECONDS)
        found[twins.bot.pk] = apart
    return found


def _count(ladder: Ladder, twins: Twins) -> Apart:
    return Apart(
        noise.band_splits(ladder, twins.bot, twins.twin),
        noise.tests_of_twins(ladder, twins.bot, twins.twin),
    )
