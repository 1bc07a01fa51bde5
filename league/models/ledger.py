"""The ledger: every change of a rating, and every correction. Rows are only ever added.

A correction writes the rows from some round on again, under the next revision. The rows of older
revisions stay and can be read. The database refuses to change or delete a row.
"""

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q


class RoundEntry(models.Model):
    """A bot's rating before and after a round, under a revision."""

    round = models.ForeignKey("Round", models.PROTECT, related_name="ledger")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="round_ledger")
    revision = models.PositiveIntegerField(default=1)
    applied_number = models.PositiveIntegerField(
        help_text="The round's place in the order in which the ladder applied its rounds, from 1."
    )
    rating_before = models.BigIntegerField()
    rating_after = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "round entries"
        constraints = [
            models.UniqueConstraint(
                fields=["round", "bot", "revision"], name="a_round_rates_a_bot_once"
            )
        ]
        indexes = [models.Index(fields=["bot", "-applied_number"], name="rating_changes_of_a_bot")]

    def __str__(self) -> str:
        return f"{self.bot.name}, round {self.round.number}"


class BlockEntry(models.Model):
    """The change of one bot's rating by one block, under a revision."""

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


class VoidMarkQuerySet(models.QuerySet["VoidMark"]):
    """Void marks by whether they count, and whether the ratings follow them."""

    def newest(self) -> "VoidMarkQuerySet":
        """Return the newest mark of each block: the one that counts."""
        return self.exclude(
            Exists(VoidMark.objects.filter(block=OuterRef("block"), pk__gt=OuterRef("pk")))
        )

    def pending(self) -> "VoidMarkQuerySet":
        """Return the marks that count and that the ratings do not follow yet."""
        to_remove = Q(takes_back=False, block__state="finished")
        to_restore = Q(takes_back=True, block__state="void")
        applied = self.filter(block__round__applied_at__isnull=False)
        return applied.filter(to_remove | to_restore).newest()


class VoidMark(models.Model):
    """The cancellation of a block, with its reason, or the return of the block.

    The newest mark of a block counts: either the block changes no rating, or it counts again.
    """

    block = models.ForeignKey("Block", models.PROTECT, related_name="void_marks")
    takes_back = models.BooleanField(
        default=False, help_text="The mark cancels the one before it, so the block counts again."
    )
    reason = models.CharField(max_length=500)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    made_at = models.DateTimeField(auto_now_add=True)
    decision = models.ForeignKey(
        "ModerationEntry",
        models.PROTECT,
        related_name="void_marks",
        null=True,
        blank=True,
        help_text="The row of the moderation log; one decision may mark several blocks.",
    )

    objects = VoidMarkQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "void marks of blocks"

    def __str__(self) -> str:
        return f"{self.block} {'counts again' if self.takes_back else 'is void'}: {self.reason}"

    def decision_superseded(self) -> bool:
        """Return whether the mark's decision has rounds of later stages played again."""
        return self.decision is not None and self.decision.rounds_superseded.exists()


class Revision(models.Model):
    """A correction: from an applied round on, the ledger's rows with this number count.

    Revision 1, before any correction, has no row.
    """

    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField(help_text="From 2.")
    from_applied_number = models.PositiveIntegerField(
        help_text="Applied number of the first round that was computed again."
    )
    reason = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "revisions of ladders' ledgers"
        ordering = ["ladder", "number"]
        constraints = [
            models.UniqueConstraint(fields=["ladder", "number"], name="one_revision_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.ladder.slug}, revision {self.number}"
