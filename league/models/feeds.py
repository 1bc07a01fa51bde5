"""Highlights, what an account follows, and what happened to bots and tournaments."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Highlight(models.Model):
    """The most remarkable match or bot of a day, one of each kind and game."""

    class Kind(models.TextChoices):
        """What is remarkable, in the order of the pages."""

        UPSET = "upset", "Upset"
        COMEBACK = "comeback", "Comeback"
        CLOSEST = "closest", "Closest match"
        STREAK = "streak", "Longest streak"
        NEWCOMER = "newcomer", "Best new bot"

    day = models.DateField(help_text="In UTC.")
    kind = models.CharField(max_length=8, choices=Kind)
    game = models.CharField(max_length=20, help_text="By name.")
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="highlights")
    opponent = models.ForeignKey("Bot", models.CASCADE, related_name="+", null=True, blank=True)
    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="+", null=True, blank=True)
    match = models.ForeignKey("Match", models.CASCADE, related_name="+", null=True, blank=True)
    step = models.PositiveIntegerField(
        null=True, blank=True, help_text="The step of the match that shows it, from 1."
    )
    number = models.IntegerField(
        help_text="Upset: difference of ratings in Elo. Comeback: the points that the winner was "
        "behind. Closest match: the points between the best two. Streak: wins in a row. Best new "
        "bot: its rating in Elo."
    )
    mistake = models.JSONField(
        null=True,
        blank=True,
        help_text="The decision of the match that lost the most, if its analysis found a mistake: "
        "seat, step, move, best move, and loss in win share.",
    )

    class Meta:
        ordering = ["-day", "kind"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "kind", "game"], name="one_highlight_a_day_kind_and_game"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.day}: {self.bot.name}"

    @property
    def mistaken(self) -> str:
        """Name of the bot that made the mistake; empty if none is stored."""
        if self.mistake is None or self.match is None:
            return ""
        seats = self.match.seating.all()
        return next(each.bot.name for each in seats if each.seat == self.mistake["seat"])


class Follow(models.Model):
    """A bot or a tournament that an account follows."""

    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="followed")
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="followers", null=True, blank=True)
    tournament = models.ForeignKey(
        "Tournament", models.CASCADE, related_name="followers", null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "bot"], name="a_bot_is_followed_once"),
            models.UniqueConstraint(
                fields=["account", "tournament"], name="a_tournament_is_followed_once"
            ),
            models.CheckConstraint(
                condition=Q(bot__isnull=False, tournament__isnull=True)
                | Q(bot__isnull=True, tournament__isnull=False),
                name="a_follow_has_one_object",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account.get_username()} follows {self.bot or self.tournament}"


class FeedItem(models.Model):
    """Something that happened to a bot or a tournament, for those who follow it."""

    class Kind(models.TextChoices):
        """What happened."""

        VERSION = "version", "a version may play"
        FIRST_RANK = "first-rank", "first rank on a ladder"
        RANK = "rank", "another rank on a ladder"
        STARTED = "started", "a tournament started"
        FINISHED = "finished", "a tournament is over"
        PLACED = "placed", "a bot's rank in a tournament"
        HIGHLIGHT = "highlight", "a highlight of a day"

    key = models.CharField(
        max_length=100,
        unique=True,
        help_text="A key for what happened, so that it is stored only once.",
    )
    kind = models.CharField(max_length=10, choices=Kind)
    at = models.DateTimeField()
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="feed_items", null=True, blank=True)
    ladder = models.ForeignKey(
        "Ladder", models.CASCADE, related_name="feed_items", null=True, blank=True
    )
    tournament = models.ForeignKey(
        "Tournament", models.CASCADE, related_name="feed_items", null=True, blank=True
    )
    number = models.PositiveIntegerField(
        default=0,
        help_text="The version's number, the rank, the number of bots in the tournament, or the "
        "step of a highlight.",
    )
    before = models.PositiveIntegerField(null=True, blank=True, help_text="The rank before.")
    match = models.ForeignKey(
        "Match",
        models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        help_text="The last match that led to it.",
    )
    text = models.CharField(
        max_length=300, blank=True, help_text="For a highlight: what happened, in a sentence."
    )

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["bot", "-at"], name="feed_of_a_bot"),
            models.Index(fields=["ladder", "-at"], name="feed_of_a_ladder"),
            models.Index(fields=["tournament", "-at"], name="feed_of_a_tournament"),
        ]

    def __str__(self) -> str:
        return self.key
