"""Ladders: who is on them and how they stand today.

Ratings are integers in thousandths of an Elo point.
"""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from engine.pairing import MAX_BLOCKS_PER_ROUND, RANDOM_PERCENT


class Ladder(models.Model):
    """A ranking of bots at one game, preset and number of seats."""

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=80)
    game = models.CharField(max_length=20)
    rules = models.CharField(max_length=40)
    seats = models.PositiveSmallIntegerField()
    move_seconds = models.FloatField(default=1.0)
    bank_seconds = models.FloatField(default=30.0)
    k_schedule = models.JSONField(
        default=dict, blank=True, help_text="Fields of engine.rating.elo.KSchedule; {}: its own."
    )
    round_pause_seconds = models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0)],
        help_text="From the end of a round of the ladder's own to the next; 0: the next one opens "
        "before a worker has nothing to do.",
    )
    idle_pause_seconds = models.FloatField(
        default=20.0,
        validators=[MinValueValidator(0)],
        help_text="The same where only house bots can play, or all have played settled_blocks, if "
        "that is longer.",
    )
    settled_blocks = models.PositiveIntegerField(
        default=400,
        help_text="Once all who can play have so many blocks, rounds pause: little is left to "
        "learn.",
    )
    max_blocks_per_round = models.PositiveSmallIntegerField(
        default=MAX_BLOCKS_PER_ROUND,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_BLOCKS_PER_ROUND)],
        help_text="Of a bot, in a round of the ladder's own. Most play one; more to fill seats.",
    )
    random_percent = models.PositiveSmallIntegerField(
        default=RANDOM_PERCENT,
        validators=[MaxValueValidator(100)],
        help_text="Of the seats of its own rounds, given without a look at the rating.",
    )
    anchor = models.ForeignKey(
        "Bot",
        models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        help_text="The bot whose performance is 1500, one of middling strength; none: the mean is.",
    )
    idle_days = models.PositiveSmallIntegerField(
        default=14,
        validators=[MinValueValidator(1)],
        help_text="A bot that no round has rated for so long is hidden from the standings.",
    )
    paused = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(
        default=1,
        help_text="Of the ledger, the one in force: a correction makes the next.",
    )
    checked_at = models.DateTimeField(
        null=True, blank=True, help_text="When a recompute last gave what is stored."
    )
    checked_round = models.PositiveIntegerField(null=True, blank=True, help_text="Up to which.")
    alarm = models.TextField(
        default="",
        blank=True,
        help_text="What a recompute found wrong; while it is here, frozen standings are shown.",
    )
    frozen_round = models.PositiveIntegerField(
        null=True, blank=True, help_text="The last round in the frozen standings."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title


class LadderEntry(models.Model):
    """A bot that wants to be drawn for a ladder's rounds."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="entries")
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="ladder_entries")
    entered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ladder", "bot"], name="one_entry_a_bot_and_ladder")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} on {self.ladder.slug}"


class Withdrawal(models.Model):
    """That a bot has left a ladder that it was on, until it enters again."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="withdrawals")
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="withdrawals")
    withdrawn_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "bot"], name="one_withdrawal_a_bot_and_ladder"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} has left {self.ladder.slug}"


RANKED_FROM = 20
"""Blocks from which on a bot has a rank; before, it is provisional.

A new version begins at 10 blocks as K counts them, so once performance is fitted its own count too.
"""

ERROR_FROM = 5
"""Blocks of its version from which on a bot's performance has an error bar.

Of fewer the sandwich promises far too much: of one block 32 % of its 95 % intervals hold, of five
85 % (docs/ratings-statistics.md).
"""


def is_provisional() -> models.ExpressionWrapper:
    """Return the expression for whether a standing has no rank yet, as an index has it too."""
    of_version = models.Q(performance_blocks__gt=0, performance_blocks__lt=RANKED_FROM)
    return models.ExpressionWrapper(
        models.Q(blocks__lt=RANKED_FROM) | of_version, output_field=models.BooleanField()
    )


class Hidden(models.TextChoices):
    """Why a standing is hidden; stored as "" where it isn't, which comes first in order."""

    IDLE = "idle", "idle"
    WITHDRAWN = "withdrawn", "withdrawn"


class StandingNumbers(models.Model):
    """The numbers of a standing, and whether it is shown; hiding it changes no number.

    Win share is ``half_wins / (2 * pairs)`` and mean points ``points / matches``.
    """

    rating = models.BigIntegerField(help_text="In thousandths of an Elo point.")
    blocks = models.PositiveIntegerField(help_text="Rated blocks, as K counts them.")
    version = models.PositiveIntegerField()
    matches = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(default=0, help_text="Opponents met, match by match.")
    half_wins = models.PositiveIntegerField(default=0, help_text="2 for a win, 1 for a tie.")
    points = models.BigIntegerField(default=0)
    performance = models.FloatField(
        null=True, blank=True, help_text="In Elo, by the last fit; none before the first."
    )
    performance_error = models.FloatField(
        null=True, blank=True, help_text="Its standard error, against the field's mean."
    )
    performance_blocks = models.PositiveIntegerField(
        default=0,
        help_text="Blocks of the current version, which it was fitted to.",
    )
    band = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Of rank, by performance; none for a provisional bot."
    )
    active_at = models.DateTimeField(
        default=timezone.now,
        help_text="When a round last rated it, or it entered the ladder since.",
    )
    hidden = models.CharField(
        max_length=9,
        choices=Hidden,
        default="",
        blank=True,
        help_text="Why it is not shown among the others; empty: it is.",
    )
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def blocks_for_rank(self) -> int:
        """How many of the blocks that a rank takes there are, as `is_provisional` counts them."""
        return min(self.blocks, self.performance_blocks or self.blocks)


class Standing(StandingNumbers):
    """Where a bot stands after the last round applied: the fold so far, kept for reading."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="standings")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="standings")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ladder", "bot"], name="one_standing_a_bot_and_ladder")
        ]
        indexes = [
            models.Index(fields=["ladder", "-rating", "bot"], name="standings_by_rating"),
            models.Index(
                models.F("ladder"),
                models.F("hidden"),
                is_provisional(),
                models.F("rating").desc(),
                models.F("bot"),
                name="standings_as_shown",
            ),
            models.Index(fields=["ladder", "hidden", "active_at"], name="standings_by_activity"),
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.rating / 1000:.1f}"


class FrozenStanding(StandingNumbers):
    """A standing as it was when an alarm was raised: shown until the ladder is put right."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="frozen_standings")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="frozen_standings")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "bot"], name="one_frozen_standing_a_bot_and_ladder"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.rating / 1000:.1f}, frozen"


class HeadToHead(models.Model):
    """What a bot took from an opponent in all rated blocks, whatever their versions.

    Each pair has two rows, one from either side.
    """

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="head_to_head")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="opponents")
    opponent = models.ForeignKey("Bot", models.PROTECT, related_name="+")
    pairs = models.PositiveIntegerField(help_text="Matches in which they met.")
    half_wins = models.PositiveIntegerField(help_text="2 for a win, 1 for a tie.")

    class Meta:
        verbose_name_plural = "head to head"
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "bot", "opponent"], name="one_row_a_bot_and_opponent"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} against {self.opponent.name}"
