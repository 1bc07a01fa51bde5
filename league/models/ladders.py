"""Ladders: who is on them, today's ratings, and the ledger of every change.

Ratings are integers in thousandths of an Elo point. The ledger is only ever added to.
"""

from django.db import models


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
        default=20.0, help_text="From the end of a round of the ladder's own to the next."
    )
    anchor = models.ForeignKey(
        "Bot",
        models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        help_text="The bot whose performance is 1500, one of middling strength; none: the mean is.",
    )
    paused = models.BooleanField(default=False)
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


RANKED_FROM = 20
"""Blocks from which on a bot has a rank; before, it is provisional."""


def is_provisional() -> models.ExpressionWrapper:
    """Return the expression for whether a standing has no rank yet, as an index has it too."""
    return models.ExpressionWrapper(
        models.Q(blocks__lt=RANKED_FROM), output_field=models.BooleanField()
    )


class Standing(models.Model):
    """Where a bot stands after the last round applied: the fold so far, kept for reading.

    Win share is ``half_wins / (2 * pairs)`` and mean points ``points / matches``.
    """

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="standings")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="standings")
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
        default=0, help_text="Blocks of the current version, which it was fitted to."
    )
    band = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Of rank, by performance; none for a provisional bot."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ladder", "bot"], name="one_standing_a_bot_and_ladder")
        ]
        indexes = [
            models.Index(fields=["ladder", "-rating", "bot"], name="standings_by_rating"),
            models.Index(
                models.F("ladder"),
                is_provisional(),
                models.F("rating").desc(),
                models.F("bot"),
                name="standings_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.rating / 1000:.1f}"


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


class RoundEntry(models.Model):
    """The ledger: a bot's rating before and after a round."""

    round = models.ForeignKey("Round", models.PROTECT, related_name="ledger")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="round_ledger")
    rating_before = models.BigIntegerField()
    rating_after = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "bot"], name="a_round_rates_a_bot_once")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}, round {self.round.number}"


class BlockEntry(models.Model):
    """The ledger: what one block did to one bot's rating."""

    block = models.ForeignKey("Block", models.PROTECT, related_name="ledger")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="block_ledger")
    delta = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["block", "bot"], name="a_block_rates_a_bot_once")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}, block {self.block_id}"
