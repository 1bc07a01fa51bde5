"""Ladders: their settings, their entries, and the standings of their bots.

Ratings are integers in thousandths of an Elo point.
"""

from django.db import models
from django.utils import timezone

from engine.pairing import MAX_BLOCKS_PER_ROUND, RANDOM_PERCENT
from engine.rating.blocks import win_share
from engine.rating.intervals import margin
from league.models.limits import (
    BANK_SECONDS,
    BLOCKS_PER_ROUND,
    IDLE_DAYS,
    MOVE_SECONDS,
    PAUSE_SECONDS,
    PERCENT,
    RANKED_FROM,
    SEATS,
    SETTLED_BLOCKS,
    limits_in_database,
)
from league.models.setting_aside import SetAside


class LadderQuerySet(models.QuerySet["Ladder"]):
    """Ladders by state."""

    def active(self) -> "LadderQuerySet":
        """Return the ladders that are neither paused nor set aside."""
        return self.filter(paused=False, set_aside="")

    def with_alarm(self) -> "LadderQuerySet":
        """Return the ladders whose ratings differ from their records."""
        return self.exclude(alarm="")

    def lock_free(self, **which: object) -> "Ladder | None":
        """Lock and return a ladder; None if another transaction holds its lock.

        For the steps of a tick: the next tick tries again, and no ladder makes the others wait.
        """
        return self.select_for_update(skip_locked=True, of=("self",)).filter(**which).first()


class Ladder(SetAside):
    """A lasting ranking of bots at one game, preset and number of seats."""

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=80)
    game = models.CharField(max_length=20)
    rules = models.CharField(max_length=40)
    seats = models.PositiveSmallIntegerField()
    move_seconds = models.FloatField(default=1.0)
    bank_seconds = models.FloatField(default=30.0)
    k_schedule = models.JSONField(
        default=dict,
        blank=True,
        help_text="How far a block moves ratings (K), by a bot's number of blocks, as JSON. {} "
        'means the default: {"steps": [[10, 128], [20, 64]], "settled": 32, "new_version_blocks": '
        "10}. When a bot gets a new version, its number of blocks is lowered to "
        "new_version_blocks (if it is higher).",
    )
    round_pause_seconds = models.FloatField(
        default=0.0,
        help_text="Pause in seconds between two rounds of the ladder (rounds of tournaments don't "
        "count). With 0 there is no pause: the next round opens early enough that workers don't "
        "run out of matches.",
    )
    idle_pause_seconds = models.FloatField(
        default=20.0,
        help_text="Pause in seconds between two rounds of the ladder (rounds of tournaments don't "
        "count) if only house bots can play, or if every bot that can play has the number of "
        "blocks in “settled blocks”. The longer of this pause and "
        "“round pause seconds” is used.",
    )
    settled_blocks = models.PositiveIntegerField(
        default=400,
        help_text="Rounds pause for “idle pause seconds” when every bot that can play has at least "
        "this number of blocks: more blocks would change little.",
    )
    max_blocks_per_round = models.PositiveSmallIntegerField(
        default=MAX_BLOCKS_PER_ROUND,
        help_text="The most blocks of a bot in a round of the ladder (rounds of tournaments don't "
        "count). Most bots play one; some play more to fill seats.",
    )
    random_percent = models.PositiveSmallIntegerField(
        default=RANDOM_PERCENT,
        help_text="How many percent of the seats are drawn at random, without regard to ratings.",
    )
    anchor = models.ForeignKey(
        "Bot",
        models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        help_text="The bot whose performance is set to 1500; choose one of medium strength. Empty: "
        "the mean of all bots is 1500.",
    )
    idle_days = models.PositiveSmallIntegerField(
        default=14,
        help_text="A bot that no round has rated for this number of days is hidden from the "
        "standings.",
    )
    ranked_from = models.PositiveIntegerField(
        default=20,
        help_text="A bot has a rank and a band from this number of rated blocks of its current "
        "version on. Placement draws so many blocks of a new bot or version.",
    )
    paused = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(
        default=1,
        help_text="Number of the ledger's revision that counts now. It starts at 1, and each "
        "correction adds 1.",
    )
    checked_at = models.DateTimeField(
        null=True, blank=True, help_text="When a recompute last found no difference."
    )
    checked_rounds = models.PositiveIntegerField(
        null=True, blank=True, help_text="The number of rated rounds in that recompute."
    )
    alarm = models.TextField(
        default="",
        blank=True,
        help_text="The differences that a recompute found. While this field is not empty, pages "
        "show the frozen standings.",
    )
    frozen_rounds = models.PositiveIntegerField(
        null=True, blank=True, help_text="The number of applied rounds in the frozen standings."
    )
    check_queued_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When a recompute was last put into the queue.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LadderQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]
        constraints = [
            limits_in_database(
                "a_ladder_has_numbers_within_limits",
                seats=SEATS,
                move_seconds=MOVE_SECONDS,
                bank_seconds=BANK_SECONDS,
                round_pause_seconds=PAUSE_SECONDS,
                idle_pause_seconds=PAUSE_SECONDS,
                settled_blocks=SETTLED_BLOCKS,
                max_blocks_per_round=BLOCKS_PER_ROUND,
                random_percent=PERCENT,
                idle_days=IDLE_DAYS,
                ranked_from=RANKED_FROM,
            )
        ]

    def __str__(self) -> str:
        return self.title


class LadderEntry(models.Model):
    """A bot's place on a ladder: its rounds may draw the bot."""

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
    """A bot that has left a ladder; the row goes when the bot enters again."""

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


ERROR_FROM = 5
"""From so many blocks of its version on a bot's performance has an error bar.

Below, the sandwich estimate is far too small: of its 95 % intervals 32 % hold at one block, 85 % at
five (docs/ratings.md).
"""


class Hidden(models.TextChoices):
    """Why a standing is hidden. A standing that is shown stores "", which sorts first."""

    IDLE = "idle", "idle"
    WITHDRAWN = "withdrawn", "withdrawn"


SHOWN = ""
"""The value of ``hidden`` of a standing that is shown."""


def provisional_expression() -> "models.ExpressionWrapper[models.Q]":
    """Return the expression for a standing without a rank yet; the index uses the same.

    The count of a new version starts at 10, as for K. So a bot also needs enough fitted blocks of
    its current version, once performance is fitted.
    """
    needed = models.F("ranked_from")
    of_version = models.Q(performance_blocks__gt=0, performance_blocks__lt=needed)
    return models.ExpressionWrapper(
        models.Q(blocks__lt=needed) | of_version, output_field=models.BooleanField()
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

    def with_provisional(self) -> "StandingQuerySet":
        """Annotate ``provisional``, to order and filter by it."""
        return self.annotate(provisional=provisional_expression())


class StandingNumbers(models.Model):
    """The numbers of a standing, and whether it is hidden. Hiding it changes no number."""

    rating = models.BigIntegerField(help_text="In thousandths of an Elo point.")
    blocks = models.PositiveIntegerField(help_text="Rated blocks, by the count that decides K.")
    ranked_from = models.PositiveIntegerField(
        default=20,
        help_text="The ladder's setting. It is copied here, so that an index sorts by rank.",
    )
    version = models.PositiveIntegerField()
    matches = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(
        default=0, help_text="Pair results: opponents met, match by match."
    )
    half_wins = models.PositiveIntegerField(default=0, help_text="2 for a win, 1 for a tie.")
    points = models.BigIntegerField(default=0)
    performance = models.FloatField(
        null=True, blank=True, help_text="In Elo, by the last fit; empty before the first."
    )
    performance_error = models.FloatField(
        null=True,
        blank=True,
        help_text="Uncertainty (standard error) of the distance between this bot's performance and "
        "the mean of all bots.",
    )
    performance_blocks = models.PositiveIntegerField(
        default=0,
        help_text="Blocks of the current version that the fit used.",
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
        return min(self.blocks, self.performance_blocks or self.blocks)

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

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="standings")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="standings")

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
        ]

    def __str__(self) -> str:
        return f"{self.bot.name}: {self.rating / 1000:.1f}"


class FrozenStanding(StandingNumbers):
    """A copy of a standing, made when an alarm was raised; shown until a repair lifts it."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="frozen_standings")
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

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="head_to_head")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="opponents")
    opponent = models.ForeignKey("Bot", models.PROTECT, related_name="+")
    pairs = models.PositiveIntegerField(help_text="Matches in which the two met.")
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

    @property
    def win_share(self) -> float:
        """The sum of the bot's pair results against the opponent divided by their number."""
        return win_share(self.half_wins, self.pairs)
