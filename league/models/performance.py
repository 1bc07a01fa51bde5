"""Performance: the pair results that a fit reads, and the numbers that it gives.

All these rows can be computed again from the records. They hold floats; no rating depends on them.
"""

from django.db import models

from engine.rating.intervals import margin


class PackedResults(models.Model):
    """The pair results of a round's rated blocks with one number of seats, for bulk reading.

    `league.ratings.packing` documents the format.
    """

    round = models.ForeignKey("Round", models.CASCADE, related_name="packed_results")
    seats = models.PositiveSmallIntegerField()
    packed = models.BinaryField()

    class Meta:
        verbose_name_plural = "packed results"
        constraints = [
            models.UniqueConstraint(fields=["round", "seats"], name="a_round_packs_a_size_once")
        ]

    def __str__(self) -> str:
        return f"tables of {self.seats} of {self.round}"


class FitQuerySet(models.QuerySet["Fit"]):
    """Fits by state."""

    def finished(self) -> "FitQuerySet":
        """Return the fits whose numbers are stored."""
        return self.filter(finished_at__isnull=False)


class Fit(models.Model):
    """A fit of all pair results up to a round: running, finished, or to be tried again."""

    round = models.OneToOneField("Round", models.CASCADE, related_name="fit")
    tried_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was last put into the queue."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = FitQuerySet.as_manager()

    def __str__(self) -> str:
        return f"fit of {self.round}"


class Performance(models.Model):
    """The performance of a bot's current version, up to a round that rated the bot.

    A round that does not rate a bot adds no row for it. The latest numbers stand on its standing.
    """

    round = models.ForeignKey("Round", models.CASCADE, related_name="performances")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="performances")
    elo = models.FloatField(help_text="On the scale on which the ladder's anchor has 1500.")
    error = models.FloatField(
        null=True,
        help_text="Uncertainty (standard error) of the distance between this bot's performance and "
        "the mean of all bots, in Elo; empty below 5 blocks.",
    )
    band = models.PositiveSmallIntegerField(null=True, help_text="From 1; empty if provisional.")
    best_chance = models.FloatField(
        null=True,
        help_text="Probability of being the strongest ranked bot, 0 to 1; empty if provisional.",
    )
    blocks = models.PositiveIntegerField(
        help_text="Of the current version, like all numbers of this row."
    )
    matches = models.PositiveIntegerField()
    win_share = models.FloatField(
        help_text="0 to 1: the sum of pair results divided by the number of pairs."
    )
    mean_points = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "bot"], name="a_round_fits_a_bot_once")
        ]
        indexes = [models.Index(fields=["bot", "-round"], name="performances_of_a_bot")]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.elo:.0f}"

    @property
    def margin(self) -> float | None:
        """Half the length of the 95 % interval, in Elo; None without an error."""
        return margin(self.error, self.blocks)
