"""The ledger: every change of a rating, and what corrects it. It is only ever added to.

A correction writes the rows of the rounds from some round on anew, under the next revision; those
of older revisions stay and can be read. The database refuses to change or delete any.
"""

from django.conf import settings
from django.db import models


class RoundEntry(models.Model):
    """A bot's rating before and after a round, under a revision."""

    round = models.ForeignKey("Round", models.PROTECT, related_name="ledger")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="round_ledger")
    revision = models.PositiveIntegerField(default=1)
    rating_before = models.BigIntegerField()
    rating_after = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "round entries"
        constraints = [
            models.UniqueConstraint(
                fields=["round", "bot", "revision"], name="a_round_rates_a_bot_once"
            )
        ]
        indexes = [models.Index(fields=["bot", "-round"], name="rating_changes_of_a_bot")]

    def __str__(self) -> str:
        return f"{self.bot.name}, round {self.round.number}"


class BlockEntry(models.Model):
    """What one block did to one bot's rating, under a revision."""

    block = models.ForeignKey("Block", models.PROTECT, related_name="ledger")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="block_ledger")
    revision = models.PositiveIntegerField(default=1)
    delta = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "block entries"
        constraints = [
            models.UniqueConstraint(
                fields=["block", "bot", "revision"], name="a_block_rates_a_bot_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}, block {self.block_id}"


class VoidMark(models.Model):
    """That somebody took a block out of the ratings, and why."""

    block = models.OneToOneField("Block", models.PROTECT, related_name="void_mark")
    reason = models.CharField(max_length=500)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.block} is void: {self.reason}"


class Revision(models.Model):
    """A correction: from a round on, the ledger's rows of this number are in force.

    The first revision, of number 1, has no row.
    """

    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField(help_text="From 2.")
    from_round = models.PositiveIntegerField()
    reason = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["ladder", "number"]
        constraints = [
            models.UniqueConstraint(fields=["ladder", "number"], name="one_revision_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.ladder.slug}, revision {self.number}"
