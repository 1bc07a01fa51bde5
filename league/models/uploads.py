"""Uploaded bots: their files, and what was printed and went wrong in their matches.

All of this is for a bot's owner alone.
"""

from django.db import models


class BotSource(models.Model):
    """What was uploaded as a version, byte by byte."""

    version = models.OneToOneField(
        "BotVersion", models.CASCADE, primary_key=True, related_name="source"
    )
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"source of {self.version}"


class Trial(models.Model):
    """A qualifying match of a version in one game."""

    version = models.ForeignKey("BotVersion", models.CASCADE, related_name="trials")
    game = models.CharField(max_length=20)
    passed = models.BooleanField()
    reason = models.CharField(max_length=500, blank=True, help_text="Why it failed.")
    printed = models.TextField(blank=True)
    observation = models.JSONField(null=True, help_text="What it failed at.")
    played_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version", "game"]
        constraints = [models.UniqueConstraint(fields=["version", "game"], name="one_trial_a_game")]

    def __str__(self) -> str:
        return f"{self.version} in {self.game}: {'passed' if self.passed else 'failed'}"


class SeatLog(models.Model):
    """What a hosted bot printed in a match, and why the referee had to play for it."""

    seat = models.OneToOneField("MatchSeat", models.CASCADE, primary_key=True, related_name="log")
    printed = models.TextField(blank=True)
    reasons = models.JSONField(default=dict, help_text="By ply: what the bot did, in one line.")

    def __str__(self) -> str:
        return f"log of {self.seat}"
