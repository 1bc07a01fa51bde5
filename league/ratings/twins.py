"""Twins: two house bots that are one program, whose gap on a ladder is nothing but luck."""

from typing import NamedTuple

from bots_sdk.reference import HOUSE
from league.models import Ladder
from league.ratings.hiding import SHOWN
from league.ratings.standings import standings_shown


class TwinGap(NamedTuple):
    """What lies between the ratings of two bots that are one program.

    Attributes:
        bot: name of one.
        twin: name of the other.
        gap: in thousandths of an Elo point, 0 or more.
    """

    bot: str
    twin: str
    gap: int


def twin_gaps(ladder: Ladder) -> list[TwinGap]:
    """Return the gaps between twins on a ladder; empty unless both of a pair are shown."""
    rows = standings_shown(ladder).filter(hidden=SHOWN, bot__name__in=HOUSE)
    ratings = dict(rows.values_list("bot__name", "rating"))
    return [
        TwinGap(name, twin, abs(ratings[name] - ratings[twin]))
        for twin in sorted(ratings)
        if (name := twin.removesuffix("-2")) != twin and name in ratings
    ]
