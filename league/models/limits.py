"""Limits of settings: the lowest and highest values, for database, forms, API and checks alike."""

from typing import NamedTuple

from django.db.models import CheckConstraint, Q

from engine.pairing import MAX_BLOCKS_PER_ROUND

MAX_MOVES = 100
"""Moves of one request to the API."""


class Limits(NamedTuple):
    """The lowest and the highest value that are allowed."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"from {self.low} to {self.high}"


SEATS = Limits(2, 12)
"""Seats that a table of any game can have; each preset allows fewer."""
MOVE_SECONDS_LIMITS = Limits(0.01, 3600)
BANK_SECONDS_LIMITS = Limits(0, 86_400)
PAUSE_SECONDS = Limits(0, 604_800)
SETTLED_BLOCKS = Limits(1, 1_000_000)
BLOCKS_PER_ROUND = Limits(1, MAX_BLOCKS_PER_ROUND)
PERCENT = Limits(0, 100)
IDLE_DAYS = Limits(1, 3650)
RANKED_FROM = Limits(1, 1000)
SWISS_ROUNDS = Limits(1, 50)
TABLES = Limits(1, 5000)
EXTRA_BLOCKS = Limits(0, 20)
EVERY_HOURS = Limits(1, 8784)
ENTRY_HOURS = Limits(1, 720)
CHALLENGES_PER_DAY = Limits(1, 10_000)


def limits_in_database(name: str, **fields: Limits) -> CheckConstraint:
    """Return the constraint that numbers of a row are within limits, or empty.

    PostgreSQL sorts NaN above all numbers, so that it refuses NaN and infinity too.
    """
    condition = Q()
    for field, limits in fields.items():
        condition &= Q(**{f"{field}__gte": limits.low, f"{field}__lte": limits.high})
    return CheckConstraint(condition=condition, name=name)
