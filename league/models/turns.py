"""Live matches: the log so far, the turns with their receipts, and the clock."""

from datetime import datetime

from django.db import models

from league.models.matches import Match


class LiveMove(models.Model):
    """A move of a match in play; it is deleted when the match is finished and has its record.

    The phase fixes the ply. If seats decide together, their plies ascend by seat, however the
    moves arrive. So the moves from ``Match.plies`` on are choices that wait for the
    last of their phase, and may have gaps.
    """

    match = models.ForeignKey("Match", models.CASCADE, related_name="live_moves", db_index=False)
    ply = models.PositiveIntegerField()
    seat = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=40)
    fault = models.CharField(
        max_length=8, blank=True, help_text="Kind of fault, if the referee played."
    )

    class Meta:
        ordering = ["match", "ply"]
        constraints = [models.UniqueConstraint(fields=["match", "ply"], name="one_move_a_ply")]

    def __str__(self) -> str:
        return f"ply {self.ply}: {self.text}"


class TurnQuerySet(models.QuerySet["Turn"]):
    """Turns by state."""

    def open(self) -> "TurnQuerySet":
        """Keep the turns that are not decided."""
        return self.filter(decided_at__isnull=True)

    def in_play(self) -> "TurnQuerySet":
        """Keep the turns of matches that are being played."""
        return self.filter(match__status=Match.Status.PLAYING)

    def overdue(self, now: datetime) -> "TurnQuerySet":
        """Keep the open turns whose deadline has passed."""
        return self.open().filter(deadline__lt=now)


class Turn(models.Model):
    """A decision that the league waits for, with its receipts, which settle a disputed timeout.

    It is kept for some days when the match is finished. A seat's bank is the rest that its last
    turn left.
    """

    match = models.ForeignKey("Match", models.CASCADE, related_name="turns", db_index=False)
    seat = models.PositiveSmallIntegerField()
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="turns")
    number = models.PositiveIntegerField(help_text="Number of the seat's turns before this one.")
    ply = models.PositiveIntegerField()
    opened_at = models.DateTimeField()
    handed_out_at = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(help_text="When the referee plays for the bot.")
    bank_ms = models.PositiveIntegerField(help_text="The seat's bank when the turn opened.")
    given_back_ms = models.PositiveBigIntegerField(
        default=0,
        help_text="Time that the league lost after the turn's clock had started; the deadline "
        "contains it.",
    )
    illegal_answers = models.PositiveSmallIntegerField(default=0)
    decided_at = models.DateTimeField(null=True, blank=True)
    text = models.CharField(max_length=40, blank=True, help_text="The move that was played.")
    fault = models.CharField(
        max_length=8, blank=True, help_text="Kind of fault, if the referee played."
    )

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering = ["match", "seat", "number"]
        constraints = [
            models.UniqueConstraint(fields=["match", "seat", "number"], name="one_turn_a_decision"),
            models.UniqueConstraint(fields=["match", "ply"], name="one_turn_a_ply"),
        ]
        indexes = [
            models.Index(
                fields=["deadline"],
                condition=models.Q(decided_at__isnull=True),
                name="turns_overdue",
            ),
            models.Index(
                fields=["bot", "opened_at"],
                condition=models.Q(decided_at__isnull=True),
                name="turns_open",
            ),
        ]

    def __str__(self) -> str:
        return f"turn {self.number} of seat {self.seat}, match {self.match_id}"


class Clock(models.Model):
    """The time until which the clocks of turns have run: one row, see `league.play.outages`."""

    ONLY = 1

    ran_until = models.DateTimeField(
        help_text="Up to this time, the clock ran and every door (a way by which calls reach the "
        "league) worked, or the lost time has been given back."
    )
    is_broken = models.BooleanField(
        default=False, help_text="Whether a door has failed since then; see `Door`."
    )

    def __str__(self) -> str:
        return f"clocks have run until {self.ran_until}"


class Door(models.Model):
    """A path on which bots' calls reach the league, as the clock's last probe found it."""

    name = models.CharField(max_length=20, unique=True)
    address = models.CharField(max_length=300, help_text="The URL of the probe.")
    worked_until = models.DateTimeField(help_text="Start of the last probe that succeeded.")
    fault = models.CharField(
        max_length=300, blank=True, help_text="Why the last probe failed; empty if it succeeded."
    )

    def __str__(self) -> str:
        return f"door {self.name}"
