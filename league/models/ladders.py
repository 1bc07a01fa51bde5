"""Ladders: their settings, and the bots that have entered or left them."""

from django.db import models
from django.utils import timezone

from engine.pairing import MAX_BLOCKS_PER_ROUND, RANDOM_PERCENT
from league.models.limits import (
    BANK_SECONDS_LIMITS,
    BLOCKS_PER_ROUND,
    IDLE_DAYS,
    MOVE_SECONDS_LIMITS,
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
        "10}. By this default, K is 128 until a bot has played 10 blocks, 64 until it has played "
        "20, then 32. When a bot gets a new version, its number of blocks is lowered to "
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
        help_text="Pause in seconds between two rounds of the ladder when more blocks would change "
        "little: only house bots can play, or every bot that can play has at least “settled "
        "blocks” blocks. If “round pause seconds” is a longer pause, the league uses that one. "
        "Rounds of tournaments don't count.",
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
        help_text="Percentage of the seats that are drawn at random, without regard to ratings.",
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
        help_text="A bot gets a rank and a band after this number of rated blocks of its current "
        "version. Placement, the first blocks of a new bot or version, has the same number of "
        "blocks.",
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
                move_seconds=MOVE_SECONDS_LIMITS,
                bank_seconds=BANK_SECONDS_LIMITS,
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
