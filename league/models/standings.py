"""Standings: the numbers of each bot on a ladder, and its results against each opponent.

Ratings are integers in thousandths of an Elo point.
"""

from django.db import models
from django.utils import timezone

from engine.rating.intervals import margin
from engine.rating.results import win_share

ERROR_FROM = 5
"""From so many blocks of its version on a bot's performance has an error bar.

Below, the sandwich estimate is far too small: of intervals of 1.96 standard errors 44 % hold at one
block, 85 % at five (docs/ratings-statistics.md).
"""


class Hidden(models.TextChoices):
    """Why a standing is hidden. A standing that is shown stores "", which sorts first."""

    IDLE = "idle", "idle"
    WITHDRAWN = "withdrawn", "withdrawn"


SHOWN = ""
"""The value of ``hidden`` of a standing that is shown."""


def provisional_expression() -> "models.ExpressionWrapper[models.Q]":
    """Return the expression for a standing without a rank yet; the index uses the same.

    A bot needs enough fitted blocks of its current version. ``blocks``, which sets K, starts at 10
    for each change of version, so it counts only before the first fit.
    """
    needed = models.F("ranked_from")
    return models.ExpressionWrapper(
        models.Q(fitted_version__isnull=True, blocks__lt=needed)
        | models.Q(fitted_version__isnull=False, performance_blocks__lt=needed),
        output_field=models.BooleanField(),
    )


class StandingQuerySet(models.QuerySet["Standing"]):
    """Standings by what pages show."""

    def shown(self) -> "StandingQuerySet":
        """Return the standings that are not hidden."""
        return self.filter(hidden=SHOWN)

    def ranked(self) -> "StandingQuerySet":
        """Return the standings with a rank: neither hidden nor provisional."""
        rows = self.annotate(provisional=provisional_expression())
        return rows.filter(hidden=SHOWN, provisional=False)

    def begin_version(self, number: int) -> int:
        """Forget the performance of an old version; return the number of standings.

        Call it in the transaction that changes the bots' current version, so that nobody sees the
        old version's rank beside the new one. The next fit stores the new version's numbers.

        Args:
            number: of the bots' new current version.
        """
        return self.update(
            performance=None,
            performance_error=None,
            performance_blocks=0,
            fitted_version=number,
            band=None,
            best_chance=None,
            awaits_fit=True,
        )

    def with_provisional(self) -> "StandingQuerySet":
        """Annotate ``provisional``, to order and filter by it."""
        return self.annotate(provisional=provisional_expression())


class StandingNumbers(models.Model):
    """The numbers of a standing, and whether it is hidden. Hiding it changes no number."""

    rating = models.BigIntegerField(help_text="In thousandths of an Elo point.")
    blocks = models.PositiveIntegerField(help_text="Rated blocks; the number sets K.")
    ranked_from = models.PositiveIntegerField(
        default=20,
        help_text="The ladder's setting. It is copied here, so that an index sorts by rank.",
    )
    version = models.PositiveIntegerField()
    matches = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(
        default=0, help_text="Number of pair results: one for each opponent in each match."
    )
    half_wins = models.PositiveIntegerField(
        default=0, help_text="Sum over the pair results: 2 for a win, 1 for a tie."
    )
    points = models.BigIntegerField(default=0)
    performance = models.FloatField(
        null=True,
        blank=True,
        help_text="In Elo, by the last fit (the computation of the performance of all bots of the "
        "ladder); empty before the first fit.",
    )
    performance_error = models.FloatField(
        null=True,
        blank=True,
        help_text="Uncertainty (standard error) of the distance between this bot's performance and "
        "the mean of all bots.",
    )
    performance_blocks = models.PositiveIntegerField(
        default=0,
        help_text="Blocks of the fitted version that the fit used.",
    )
    fitted_version = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Number of the version that performance, band and probability belong to: the "
        "bot's current one. Empty if no fit has counted the bot.",
    )
    band = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Rank band by performance; empty for a provisional bot."
    )
    best_chance = models.FloatField(
        null=True,
        blank=True,
        help_text="Probability of being the strongest ranked bot, 0 to 1; empty without a rank.",
    )
    active_at = models.DateTimeField(
        default=timezone.now,
        help_text="The later of two times: when a round last rated the bot, and when it last "
        "entered the ladder.",
    )
    hidden = models.CharField(
        max_length=9,
        choices=Hidden,
        default="",
        blank=True,
        help_text="Why it is hidden from the standings; empty if it is shown.",
    )
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def blocks_for_rank(self) -> int:
        """The blocks that count towards a rank, as in `provisional_expression`."""
        return self.blocks if self.fitted_version is None else self.performance_blocks

    @property
    def is_provisional(self) -> bool:
        """Whether the bot has too few blocks for a rank."""
        return self.blocks_for_rank < self.ranked_from

    @property
    def performance_margin(self) -> float | None:
        """Half the length of the 95 % interval of performance, in Elo; None without an error."""
        return margin(self.performance_error, self.performance_blocks)

    @property
    def win_share(self) -> float | None:
        """The sum of pair results divided by the number of pairs; None before the first match."""
        return win_share(self.half_wins, self.pairs) if self.pairs else None

    @property
    def mean_points(self) -> float | None:
        """The points a match; None before the first match."""
        return self.points / self.matches if self.matches else None


class Standing(StandingNumbers):
    """A bot's row on a ladder after the last applied round: the state of the fold."""

    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="standings")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="standings")
    awaits_fit = models.BooleanField(
        default=False,
        help_text="Whether the bot has got another current version since the last fit.",
    )

    objects = StandingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ladder", "bot"], name="one_standing_a_bot_and_ladder")
        ]
        indexes = [
            models.Index(fields=["ladder", "-rating", "bot"], name="standings_by_rating"),
            models.Index(
                models.F("ladder"),
                models.F("hidden"),
                provisional_expression(),
                models.F("rating").desc(),
                models.F("bot"),
                name="standings_as_shown",
            ),
            models.Index(fields=["ladder", "hidden", "active_at"], name="standings_by_activity"),
            models.Index(
                fields=["ladder"], condition=models.Q(awaits_fit=True), name="standings_to_fit"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.rating / 1000:.1f}"


class FrozenStanding(StandingNumbers):
    """A copy of a standing, made when an alarm was raised; shown until a repair lifts it."""

    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="frozen_standings")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="frozen_standings")

    objects = StandingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "bot"], name="one_frozen_standing_a_bot_and_ladder"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.rating / 1000:.1f}, frozen"


class HeadToHead(models.Model):
    """The pair results of a bot against an opponent in all rated blocks, over all versions.

    Each pair has two rows, one for each side.
    """

    ladder = models.ForeignKey("Ladder", models.CASCADE, related_name="head_to_head")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="opponents")
    opponent = models.ForeignKey("Bot", models.PROTECT, related_name="+")
    pairs = models.PositiveIntegerField(help_text="Matches in which the two met.")
    half_wins = models.PositiveIntegerField(
        help_text="Sum over the pair results: 2 for a win, 1 for a tie."
    )

    class Meta:
        verbose_name_plural = "head to head"
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "bot", "opponent"], name="one_row_a_bot_and_opponent"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} against {self.opponent.name}"

    @property
    def win_share(self) -> float:
        """The sum of the bot's pair results against the opponent divided by their number."""
        return win_share(self.half_wins, self.pairs)
