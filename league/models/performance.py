"""Performance: the pair results that it is fitted to, and what came of each fit.

All of it can be worked out again from the matches. Floats; no rating is made of them.
"""

from django.db import models


class PackedResults(models.Model):
    """The pair results of a round's rated blocks with one number of seats, to be read in bulk.

    `league.ratings.packing` says how they are packed.
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


class Fit(models.Model):
    """A fit of all pair results up to a round: under way, done, or to be tried again."""

    round = models.OneToOneField("Round", models.CASCADE, related_name="fit")
    tried_at = models.DateTimeField(null=True, blank=True, help_text="When it was queued last.")
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"fit of {self.round}"


class Performance(models.Model):
    """What a bot's current version showed up to a round in which it was rated.

    A bot that sat the round out keeps the row of its last; its latest numbers are on its standing.
    """

    round = models.ForeignKey("Round", models.CASCADE, related_name="performances")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="performances")
    elo = models.FloatField(help_text="On the scale on which the ladder's anchor has 1500.")
    error = models.FloatField(
        null=True, help_text="Standard error in Elo, against the field's mean; none below 2 blocks."
    )
    band = models.PositiveSmallIntegerField(null=True, help_text="From 1; none if provisional.")
    blocks = models.PositiveIntegerField(help_text="Of the current version, as are all these.")
    matches = models.PositiveIntegerField()
    win_share = models.FloatField(help_text="0 to 1: opponents beaten, a tie being half.")
    mean_points = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "bot"], name="a_round_fits_a_bot_once")
        ]
        indexes = [models.Index(fields=["bot", "-round"], name="performances_of_a_bot")]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.elo:.0f}"
