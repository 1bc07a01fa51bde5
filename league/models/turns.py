"""Live matches: the log so far, the turns that are or were open, and their clock."""

from django.db import models


class LiveMove(models.Model):
    """A move of a match in play; gone once the match is finished and has its record.

    The ply is fixed by the phase: where seats decide together, each has its own from the start,
    ascending by seat, whatever order the moves arrive in. So the moves from ``Match.plies`` on are
    the choices that wait for the last of their phase, and may have gaps.
    """

    match = models.ForeignKey("Match", models.CASCADE, related_name="live_moves")
    ply = models.PositiveIntegerField()
    seat = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=40)
    fault = models.CharField(max_length=8, blank=True, help_text="Kind, if the referee made it.")

    class Meta:
        ordering = ["match", "ply"]
        constraints = [models.UniqueConstraint(fields=["match", "ply"], name="one_move_a_ply")]

    def __str__(self) -> str:
        return f"ply {self.ply}: {self.text}"


class Turn(models.Model):
    """A decision that a seat was asked for, with its receipts, so that a timeout can be settled.

    It is kept when the match is finished. The seat's bank is what its last turn left of it.
    """

    match = models.ForeignKey("Match", models.CASCADE, related_name="turns")
    seat = models.PositiveSmallIntegerField()
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="turns")
    number = models.PositiveIntegerField(help_text="The seat's turns before this one.")
    ply = models.PositiveIntegerField()
    opened_at = models.DateTimeField()
    handed_out_at = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(help_text="When the referee plays in the bot's stead.")
    bank_ms = models.PositiveIntegerField(help_text="Of the seat when the turn was opened.")
    illegal_answers = models.PositiveSmallIntegerField(default=0)
    decided_at = models.DateTimeField(null=True, blank=True)
    text = models.CharField(max_length=40, blank=True, help_text="What was played.")
    fault = models.CharField(max_length=8, blank=True, help_text="Kind, if the referee played.")

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
    """Until when the clocks of turns have run: one row, see `league.play.outages`."""

    ONLY = 1

    ran_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"clocks have run until {self.ran_until}"
