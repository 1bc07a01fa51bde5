"""Luck: how much of a ladder's numbers it is, as last counted."""

from django.db import models


class LuckCount(models.Model):
    """When a ladder's luck was last counted, and the error of one block.

    Its rows of `TwinErrors` are from the same count. All can be counted again from the records.
    """

    ladder = models.OneToOneField("Ladder", models.CASCADE, related_name="luck_count")
    queued_at = models.DateTimeField(
        null=True, blank=True, help_text="When a count was last put into the queue."
    )
    counted_at = models.DateTimeField(
        null=True, blank=True, help_text="When the last count began; empty before the first."
    )
    revision = models.PositiveIntegerField(
        null=True, blank=True, help_text="Revision of the ledger that was counted."
    )
    block_error = models.FloatField(
        null=True,
        blank=True,
        help_text="Standard error of a performance by one block, in Elo: the median over the "
        "ranked bots. Empty before a bot has a rank.",
    )

    def __str__(self) -> str:
        return f"luck on {self.ladder.slug}"


class TwinErrors(models.Model):
    """How often rank bands and A/B tests separated two equal bots, by mistake."""

    count = models.ForeignKey(LuckCount, models.CASCADE, related_name="twins")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="+")
    twin = models.ForeignKey("Bot", models.PROTECT, related_name="+")
    fits = models.PositiveIntegerField(
        help_text="Number of fits (computations of performance) that gave both bots a band."
    )
    apart = models.PositiveIntegerField(
        help_text="Number of these fits that put the two bots into different bands."
    )
    blocks = models.PositiveIntegerField(help_text="The last rated blocks in which both sat.")
    ended = models.PositiveIntegerField(
        help_text="Number of A/B tests over these blocks that came to an end."
    )
    better = models.PositiveIntegerField(
        help_text="The tests that called either bot better, by mistake."
    )
    not_better = models.PositiveIntegerField(help_text="The tests that found no gain.")

    class Meta:
        verbose_name_plural = "twin errors"
        constraints = [
            models.UniqueConstraint(fields=["count", "bot"], name="twins_are_counted_once")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} and {self.twin.name}"
