"""Tournaments, who is entered, and the schedules that make them."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from engine.pairing import MAX_BLOCKS_PER_ROUND, MAX_EXTRA_BLOCKS, MAX_TABLES
from engine.pairing.swiss import BLOCKS_PER_TABLE

MAX_SWISS_ROUNDS = 50
MAX_TABLES_EVER = 5000
MAX_EXTRA_BLOCKS_EVER = 20


class EventSettings(models.Model):
    """How a tournament is played; what a schedule hands on to those that it makes."""

    class Format(models.TextChoices):
        """What decides who sits together next, as `engine.pairing.Format`."""

        ROUND_ROBIN = "round-robin", "round robin"
        SWISS = "swiss", "swiss"
        KNOCKOUT = "knockout", "knockout"

    format = models.CharField(max_length=16, choices=Format, default=Format.ROUND_ROBIN)
    blocks_per_table = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_BLOCKS_PER_ROUND)],
        help_text="That a table plays in a round; empty for 2 in a swiss, else 1.",
    )
    swiss_rounds = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_SWISS_ROUNDS)],
        help_text="Of a swiss; empty for log2 of the entrants, rounded up, and 2.",
    )
    late_entry = models.BooleanField(
        default=False, help_text="Take entries while it runs; not in a knockout."
    )
    house_bots = models.BooleanField(default=True, help_text="Enter the house bots at the start.")
    fill_in = models.BooleanField(
        default=False,
        help_text="House bots that are not entered take empty seats; they are not ranked.",
    )

    max_tables = models.PositiveSmallIntegerField(
        default=MAX_TABLES,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TABLES_EVER)],
        help_text="Of a round robin: of more a balanced choice is played; more only where it takes "
        "them to seat everybody equally often.",
    )
    extra_blocks = models.PositiveSmallIntegerField(
        default=MAX_EXTRA_BLOCKS,
        validators=[MaxValueValidator(MAX_EXTRA_BLOCKS_EVER)],
        help_text="Of a knockout: played at most for a tie at the cut, then the better seed "
        "goes on.",
    )

    class Meta:
        abstract = True

    @property
    def blocks(self) -> int:
        """How many blocks a table plays in a round."""
        usual = BLOCKS_PER_TABLE if self.format == self.Format.SWISS else 1
        return self.blocks_per_table or usual


class Tournament(EventSettings):
    """An event with entrants and an end, rated on a ladder."""

    class State(models.TextChoices):
        """How far a tournament is."""

        ANNOUNCED = "announced", "announced"
        ENTRIES_OPEN = "open", "entries open"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"

    title = models.CharField(max_length=80)
    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="tournaments")
    state = models.CharField(max_length=10, choices=State, default=State.ANNOUNCED)
    entries_open_at = models.DateTimeField()
    starts_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    seed = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    schedule = models.ForeignKey(
        "Schedule", models.PROTECT, related_name="tournaments", null=True, blank=True
    )
    scheduled_for = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The start of the schedule's that it was made for; it may be moved since.",
    )

    class Meta:
        ordering = ["-starts_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["schedule", "scheduled_for"], name="a_schedule_makes_each_event_once"
            )
        ]
        indexes = [models.Index(fields=["state", "starts_at"], name="tournaments_due")]

    def __str__(self) -> str:
        return self.title


class TournamentEntry(models.Model):
    """A bot that is entered for a tournament; once that has begun, the row stays."""

    class State(models.TextChoices):
        """Whether the bot is still in."""

        ENTERED = "entered", "entered"
        WITHDRAWN = "withdrawn", "withdrawn"
        DISQUALIFIED = "disqualified", "disqualified"

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="entries")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="tournament_entries")
    entered_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=12, choices=State, default=State.ENTERED)
    rating = models.BigIntegerField(
        null=True, blank=True, help_text="In thousandths of an Elo point, when it came in."
    )
    first_round = models.PositiveIntegerField(
        default=1, help_text="That it may be drawn for; later than 1 if it was late."
    )
    left_after = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many rounds had been opened when it left."
    )
    reason = models.CharField(
        max_length=200, blank=True, help_text="Why it was disqualified; public."
    )

    class Meta:
        verbose_name_plural = "tournament entries"
        constraints = [
            models.UniqueConstraint(fields=["tournament", "bot"], name="a_bot_enters_once"),
            models.CheckConstraint(
                condition=models.Q(state="entered", left_after__isnull=True)
                | (~models.Q(state="entered") & models.Q(left_after__isnull=False)),
                name="who_left_did_so_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} in {self.tournament.title}"


class Schedule(EventSettings):
    """Makes a tournament again and again: every so many hours, or weekly at a time of day."""

    title = models.CharField(max_length=80)
    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="schedules")
    every_hours = models.PositiveSmallIntegerField(null=True, blank=True)
    weekday = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Monday is 0.")
    time_of_day = models.TimeField(null=True, blank=True)
    time_zone = models.CharField(max_length=50, default="UTC", help_text="As Europe/London.")
    entry_hours = models.PositiveSmallIntegerField(
        default=1, help_text="How long before the start entries open."
    )
    first_at = models.DateTimeField(help_text="No event starts before this.")
    active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    every_hours__gte=1, weekday__isnull=True, time_of_day__isnull=True
                )
                | models.Q(every_hours__isnull=True, weekday__lte=6, time_of_day__isnull=False),
                name="every_so_many_hours_or_weekly",
            )
        ]

    def __str__(self) -> str:
        return self.title
