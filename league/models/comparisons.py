"""Comparisons: whether a version of a bot is better than another, by swap blocks and the SPRT."""

from django.db import models


class Comparison(models.Model):
    """An A/B test of two versions against the field of a ladder. It rates nobody."""

    class State(models.TextChoices):
        """How far a comparison is."""

        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"

    bot = models.ForeignKey("Bot", models.CASCADE, related_name="comparisons")
    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="comparisons")
    new = models.ForeignKey("BotVersion", models.CASCADE, related_name="+")
    old = models.ForeignKey("BotVersion", models.CASCADE, related_name="+")
    promote = models.BooleanField(
        default=False, help_text="Whether the new version plays from then on if it is better."
    )
    promoted = models.BooleanField(default=False)
    seed = models.BinaryField(max_length=32)
    state = models.CharField(max_length=9, choices=State, default=State.RUNNING)
    verdict = models.CharField(max_length=30, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["bot"],
                condition=models.Q(state="running"),
                name="one_comparison_of_a_bot_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} v{self.new.number} against v{self.old.number}"

    @property
    def not_promoted(self) -> str:
        """Why the new version doesn't play although it was to, being better; else ""."""
        if not self.promote or self.promoted or self.verdict != "better":
            return ""
        return (
            f"Version {self.new.number} was not promoted, since version {self.old.number} did not "
            "play any more by then."
        )


class SwapBlock(models.Model):
    """One deal played twice: the versions exchange seats, the opponents stay."""

    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="blocks")
    number = models.PositiveIntegerField(help_text="From 0; its seed comes of it.")
    difference = models.FloatField(
        null=True, blank=True, help_text="d = S_new - S_old, once both matches are finished."
    )
    void = models.BooleanField(default=False)

    class Meta:
        ordering = ["comparison", "number"]
        constraints = [
            models.UniqueConstraint(fields=["comparison", "number"], name="one_swap_block_a_number")
        ]

    def __str__(self) -> str:
        return f"swap block {self.number} of {self.comparison}"
