"""Twins: two house bots that run one program, so the gap of their ratings is luck alone."""

from typing import NamedTuple

from bots_sdk.reference import HOUSE
from league.models import Ladder
from league.ratings.standings import public_standings


class TwinGap(NamedTuple):
    """The gap between the ratings of two bots that run one program.

    Attributes:
        bot: name of one bot.
        twin: name of the other.
        gap: in thousandths of an Elo point, 0 or more.
    """

    bot: str
    twin: str
    gap: int


def twin_gaps(ladder: Ladder) -> list[TwinGap]:
    """Return the gaps between twins on a ladder; empty unless both twins are shown."""
    rows = public_standings(ladder).shown().filter(bot__name__in=HOUSE)
    ratings = dict(rows.values_list("bot__name", "rating"))
    return [
        TwinGap(name, twin, abs(ratings[name] - ratings[twin]))
        for twin in sorted(ratings)
        if (name := twin.removesuffix("-2")) != twin and name in ratings
    ]
