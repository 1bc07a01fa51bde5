"""Twins: two house bots that run one program, so the gap of their ratings is luck alone."""

from typing import NamedTuple

from bots_sdk.reference import HOUSE
from league.models import Bot, Ladder
from league.ratings.standings import public_standings


class Twins(NamedTuple):
    """Two bots on a ladder that run one program.

    Attributes:
        bot: one of them.
        twin: the other.
        gap: between their ratings, in thousandths of an Elo point, 0 or more.
    """

    bot: Bot
    twin: Bot
    gap: int


def twins_on(ladder: Ladder) -> list[Twins]:
    """Return the twins on a ladder, of each program whose two bots are both shown."""
    rows = public_standings(ladder).shown().filter(bot__name__in=HOUSE).select_related("bot")
    by_name = {row.bot.name: row for row in rows}
    return [
        Twins(row.bot, by_name[twin].bot, abs(row.rating - by_name[twin].rating))
        for twin in sorted(by_name)
        if (name := twin.removesuffix("-2")) != twin and (row := by_name.get(name))
    ]
