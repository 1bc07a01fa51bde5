"""Moderation: quarantines, and the log of what organisers decided.

Rows of the log are only ever added; the database refuses to change or delete one.
"""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q


class QuarantineQuerySet(models.QuerySet["Quarantine"]):
    """Quarantines by whether they hold."""

    def active(self, now: datetime) -> "QuarantineQuerySet":
        """Return the quarantines that hold at a time: neither lifted nor ended."""
        return self.filter(Q(ends_at=None) | Q(ends_at__gt=now), lifted_at=None)


class Quarantine(models.Model):
    """An organiser keeps a bot, or all bots of an account, out of new matches.

    It ends by the clock: every reader compares ``ends_at`` with the time, and no task changes the
    row. A new quarantine of the same bot or account lifts the one before it.
    """

    bot = models.ForeignKey(
        "Bot", models.PROTECT, related_name="quarantines", null=True, blank=True
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="quarantines",
        null=True,
        blank=True,
        help_text="All bots of this account are in quarantine.",
    )
    reason = models.CharField(
        max_length=500, help_text="Shown to the owner and to organisers; not public."
    )
    begun_at = models.DateTimeField(auto_now_add=True)
    ends_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty: it holds until an organiser lifts it."
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = QuarantineQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(bot__isnull=True, account__isnull=False)
                | Q(bot__isnull=False, account__isnull=True),
                name="a_quarantine_is_a_bots_or_an_accounts",
            )
        ]
        indexes = [
            models.Index(
                fields=["bot"], condition=Q(lifted_at=None), name="quarantines_of_bots_not_lifted"
            ),
            models.Index(
                fields=["account"], condition=Q(lifted_at=None), name="quarantines_of_accounts"
            ),
        ]

    def __str__(self) -> str:
        return f"quarantine of {self.bot or self.account}"


def in_quarantine(now: datetime, *, bot: str = "pk", owner: str = "owner") -> Exists:
    """Return the condition for rows whose bot is in quarantine, itself or with its account.

    Args:
        now: the time that counts.
        bot: path from a row to the bot's id.
        owner: path from a row to the owner of the bot.
    """
    own, of_account = Q(bot=OuterRef(bot)), Q(account=OuterRef(owner))
    return Exists(Quarantine.objects.active(now).order_by().filter(own | of_account))


class ModerationEntry(models.Model):
    """A row of the moderation log: who did what to whom, when and why."""

    class Action(models.TextChoices):
        """What an organiser did."""

        QUARANTINE = "quarantine", "put in quarantine"
        LIFT_QUARANTINE = "lift-quarantine", "lifted the quarantine"
        VOID_BLOCK = "void-block", "made a block void"
        REPLAY_BLOCK = "replay-block", "had a block played again"
        RESTORE_BLOCK = "restore-block", "took a void back"
        DISQUALIFY = "disqualify", "disqualified a bot"
        REINSTATE = "reinstate", "took a disqualification back"
        CANCEL_TOURNAMENT = "cancel-tournament", "cancelled a tournament"
        RESTORE_TOURNAMENT = "restore-tournament", "took a cancellation back"
        ANNOUNCE_TOURNAMENT = "announce-tournament", "announced a tournament"
        CHANGE_TOURNAMENT = "change-tournament", "changed a tournament"
        ENTER_BOT = "enter-bot", "entered a bot"
        WITHDRAW_BOT = "withdraw-bot", "withdrew a bot"
        RESET_LINK = "reset-link", "issued a reset link"
        REQUEUE_MATCH = "requeue-match", "queued a match again"
        CANCEL_MATCH = "cancel-match", "cancelled a match"
        RESTORE_MATCH = "restore-match", "let a cancelled match be played"

    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        help_text="Empty: a command of the operator.",
    )
    action = models.CharField(max_length=24, choices=Action)
    subject = models.CharField(
        max_length=250, help_text="The bot, account, block or tournament, in words."
    )
    reason = models.CharField(max_length=500, blank=True)
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="+", null=True, blank=True)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    block = models.ForeignKey("Block", models.PROTECT, related_name="+", null=True, blank=True)
    tournament = models.ForeignKey(
        "Tournament", models.PROTECT, related_name="+", null=True, blank=True
    )
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "moderation log"

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.subject}"
