"""Players: people who sit down in the browser, and the tables at which they sit.

A player's seat belongs to a bot of the kind ``player``, which exists for one table. So a player's
turns, clocks, moves and token are those of a bot.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from bots_sdk.statuses import UNFINISHED

MAX_NICKNAME = 20
WAITING_ROOM = timedelta(hours=1)
"""Time after which a table that has not started is removed."""


class PlayerTableQuerySet(models.QuerySet["PlayerTable"]):
    """Tables by state."""

    def open(self, now: datetime) -> "PlayerTableQuerySet":
        """Return the tables whose match is not over, and those that still wait for players."""
        waits = Q(match=None, created_at__gt=now - WAITING_ROOM)
        return self.filter(waits | Q(match__status__in=UNFINISHED))


class PlayerTable(models.Model):
    """A table of players and bots; its match is unrated and is removed after some days."""

    code = models.CharField(max_length=16, unique=True, help_text="In its address; not guessable.")
    game = models.CharField(max_length=20)
    rules = models.CharField(max_length=40)
    seats = models.PositiveSmallIntegerField()
    bots = ArrayField(
        models.CharField(max_length=32),
        help_text="Names of the bots that take the empty seats, in this order.",
    )
    has_clock = models.BooleanField(default=True)
    move_seconds = models.FloatField(help_text="Time for a move, also if no clock is shown.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    kept_at = models.DateTimeField(
        null=True, blank=True, help_text="When a player asked to keep the match; else empty."
    )

    objects = PlayerTableQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"table {self.code}"


class SeatedPlayer(models.Model):
    """A person at a table, with or without an account."""

    table = models.ForeignKey(PlayerTable, models.CASCADE, related_name="players")
    bot = models.OneToOneField("Bot", models.CASCADE, related_name="player")
    nickname = models.CharField(max_length=MAX_NICKNAME)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True, blank=True
    )

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.nickname} at {self.table}"
