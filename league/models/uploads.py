"""Uploaded bots: their files, their qualifying matches, and what they print in matches.

Only the bot's owner may see these rows.
"""

from django.db import models
from django.db.models import F, Func, Q


def printed_bytes_field() -> models.GeneratedField:
    """Return a field with the size of `printed`, which PostgreSQL keeps."""
    return models.GeneratedField(
        expression=Func(F("printed"), function="octet_length"),
        output_field=models.IntegerField(),
        db_persist=True,
    )


class BotSource(models.Model):
    """The uploaded file of a version, byte by byte."""

    version = models.OneToOneField(
        "BotVersion", models.CASCADE, primary_key=True, related_name="source"
    )
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"source of {self.version}"


class QualifyingMatch(models.Model):
    """The one match of a game in the check of a version."""

    version = models.ForeignKey("BotVersion", models.CASCADE, related_name="qualifying")
    game = models.CharField(max_length=20)
    passed = models.BooleanField()
    reason = models.CharField(max_length=500, blank=True, help_text="The first fault.")
    printed = models.TextField(blank=True)
    observation = models.JSONField(null=True, help_text="Input at the first fault.")
    played_at = models.DateTimeField(auto_now_add=True)
    printed_bytes = printed_bytes_field()

    class Meta:
        ordering = ["version", "game"]
        verbose_name_plural = "qualifying matches"
        constraints = [
            models.UniqueConstraint(fields=["version", "game"], name="one_qualifying_match_a_game")
        ]
        indexes = [
            models.Index(
                fields=["played_at"],
                include=["printed_bytes"],
                condition=~Q(printed=""),
                name="qualifying_output",
            )
        ]

    def __str__(self) -> str:
        return f"{self.version} in {self.game}: {'passed' if self.passed else 'failed'}"


class SeatLog(models.Model):
    """The output of a hosted bot in a match, and the reasons of its faults."""

    match = models.ForeignKey("Match", models.CASCADE, related_name="logs", db_index=False)
    seat = models.PositiveSmallIntegerField()
    printed = models.TextField(blank=True)
    reasons = models.JSONField(
        default=dict, help_text="By ply: the reason of the fault, in one line."
    )
    written_at = models.DateTimeField(auto_now=True)
    printed_bytes = printed_bytes_field()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "seat"], name="one_log_a_seat")]
        indexes = [
            models.Index(
                fields=["written_at"],
                include=["printed_bytes"],
                condition=~Q(printed=""),
                name="seat_output",
            )
        ]

    def __str__(self) -> str:
        return f"log of seat {self.seat} of match {self.match_id}"
