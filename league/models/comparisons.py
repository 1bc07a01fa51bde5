"""Comparisons (A/B tests): whether one version of a bot is better than another."""

from django.db import models

from league.models.setting_aside import SetAside


class ComparisonQuerySet(models.QuerySet["Comparison"]):
    """Comparisons by state."""

    def running(self) -> "ComparisonQuerySet":
        """Return the comparisons that still play."""
        return self.filter(state=Comparison.State.RUNNING)


class Comparison(SetAside):
    """An A/B test of two versions against the bots of a ladder. It changes no rating."""

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
        default=False, help_text="If the new version is better, it becomes current."
    )
    promoted = models.BooleanField(default=False)
    seed = models.BinaryField(max_length=32)
    state = models.CharField(max_length=9, choices=State, default=State.RUNNING)
    verdict = models.CharField(max_length=30, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ComparisonQuerySet.as_manager()

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
        """Why a better version did not become current although that was requested; else ""."""
        if not self.promote or self.promoted or self.verdict != "better":
            return ""
        return (
            f"Version {self.new.number} was not promoted, because version {self.old.number} was "
            "no longer the current version when the comparison ended, or because the bot had "
            f"entered a game that version {self.new.number} does not play."
        )


class SwapBlockQuerySet(models.QuerySet["SwapBlock"]):
    """Swap blocks by state."""

    def undecided(self) -> "SwapBlockQuerySet":
        """Return the blocks that are neither finished nor void."""
        return self.filter(difference=None, void=False)


class SwapBlock(models.Model):
    """One deal played twice: the two versions exchange seats, the opponents stay."""

    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="blocks")
    number = models.PositiveIntegerField(
        help_text="From 0; the block's seed is derived from the number."
    )
    difference = models.FloatField(
        null=True, blank=True, help_text="d = S_new - S_old, once both matches are finished."
    )
    same_moves = models.BooleanField(
        null=True,
        blank=True,
        help_text="Whether both matches had the same moves and faults, once both are finished.",
    )
    void = models.BooleanField(default=False)

    objects = SwapBlockQuerySet.as_manager()

    class Meta:
        ordering = ["comparison", "number"]
        constraints = [
            models.UniqueConstraint(fields=["comparison", "number"], name="one_swap_block_a_number")
        ]

    def __str__(self) -> str:
        return f"swap block {self.number} of {self.comparison}"
