"""Tournaments, their entries, and the schedules that make them."""

from datetime import UTC, datetime, time
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Q, Value
from django.utils import timezone

from engine.pairing import MAX_EXTRA_BLOCKS, MAX_TABLES
from engine.pairing.swiss import BLOCKS_PER_TABLE
from league.models.limits import (
    BLOCKS_PER_ROUND,
    ENTRY_HOURS,
    EVERY_HOURS,
    EXTRA_BLOCKS,
    SWISS_ROUNDS,
    TABLES,
    limits_in_database,
)
from league.models.setting_aside import NOT_SET_ASIDE, SetAside

_EARLIEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside are refused: PostgreSQL stores some, such as infinity, that Python can't read."""


def _event_settings_in_database(name: str) -> models.CheckConstraint:
    return limits_in_database(
        name,
        blocks_per_table=BLOCKS_PER_ROUND,
        swiss_rounds=SWISS_ROUNDS,
        max_tables=TABLES,
        extra_blocks=EXTRA_BLOCKS,
    )


def _times_in_database(name: str, *fields: str) -> models.CheckConstraint:
    condition = Q()
    for field in fields:
        condition &= Q(**{f"{field}__gte": _EARLIEST, f"{field}__lt": _LATEST})
    return models.CheckConstraint(condition=condition, name=name)


class EventSettings(models.Model):
    """How a tournament is played; a schedule copies its own to each tournament that it makes."""

    class Format(models.TextChoices):
        """The rule that decides who sits together next, as `engine.pairing.Format`."""

        ROUND_ROBIN = "round-robin", "round robin"
        SWISS = "swiss", "swiss"
        KNOCKOUT = "knockout", "knockout"

    format = models.CharField(max_length=16, choices=Format, default=Format.ROUND_ROBIN)
    blocks_per_table = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Blocks that a table plays in a round. If it is empty: 2 in a Swiss, 1 in other "
        "formats.",
    )
    swiss_rounds = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Rounds of a Swiss. If it is empty: the base-2 logarithm of the number of "
        "entrants, rounded up, plus 2. So 16 bots play 6 rounds.",
    )
    late_entry = models.BooleanField(
        default=False, help_text="Accept entries while it runs; not in a knockout."
    )
    house_bots = models.BooleanField(default=True, help_text="Enter the house bots at the start.")
    fill_in = models.BooleanField(
        default=False,
        help_text="House bots that are not entered take empty seats; they are not ranked.",
    )

    max_tables = models.PositiveSmallIntegerField(
        default=MAX_TABLES,
        help_text="The most tables of a round robin. If the bots can form more, the league plays "
        "some of them, so that each bot plays equally often. If this is not possible with so few "
        "tables, it plays more than this number.",
    )
    extra_blocks = models.PositiveSmallIntegerField(
        default=MAX_EXTRA_BLOCKS,
        help_text="The most extra blocks that a table of a knockout plays to break a tie for a "
        "place in the next stage. If bots still tie, the bot with the better seeding goes on.",
    )

    class Meta:
        abstract = True

    @property
    def blocks(self) -> int:
        """How many blocks a table plays in a round."""
        usual = BLOCKS_PER_TABLE if self.format == self.Format.SWISS else 1
        return self.blocks_per_table or usual


class TournamentQuerySet(models.QuerySet["Tournament"]):
    """Tournaments by state, and with what lists show of them."""

    def running(self) -> "TournamentQuerySet":
        """Return the tournaments that have started and are not over."""
        return self.filter(state=Tournament.State.RUNNING)

    def to_come(self) -> "TournamentQuerySet":
        """Return the tournaments that have not started and are not cancelled."""
        return self.filter(state__in=Tournament.NOT_STARTED)

    def over(self) -> "TournamentQuerySet":
        """Return the tournaments that are finished or cancelled."""
        return self.filter(state__in=[Tournament.State.FINISHED, Tournament.State.CANCELLED])

    def with_entry_counts(self) -> "TournamentQuerySet":
        """Annotate ``entry_count``, the number of entries, and join the ladder."""
        return self.select_related("ladder").annotate(entry_count=Count("entries"))


class Tournament(SetAside, EventSettings):
    """A competition with entrants and an end; its blocks are rated on a ladder."""

    class State(models.TextChoices):
        """How far a tournament is."""

        ANNOUNCED = "announced", "announced"
        ENTRIES_OPEN = "open", "entries open"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"

    NOT_STARTED = (State.ANNOUNCED, State.ENTRIES_OPEN)

    title = models.CharField(max_length=80)
    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="tournaments")
    state = models.CharField(max_length=10, choices=State, default=State.ANNOUNCED)
    entries_open_at = models.DateTimeField()
    starts_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_reason = models.CharField(
        max_length=200, blank=True, help_text="Why it is cancelled; public."
    )
    reopened_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When an organiser had a block played again after the end, or took a "
        "cancellation back. The seed was public by then, so later rounds have seeds of their own.",
    )
    changed_at = models.DateTimeField(
        default=timezone.now, help_text="When an organiser last changed its settings."
    )
    seed = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    schedule = models.ForeignKey(
        "Schedule", models.PROTECT, related_name="tournaments", null=True, blank=True
    )
    scheduled_for = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The start that its schedule planned. Organisers may have moved the tournament "
        "since.",
    )
    open_seconds = models.FloatField(
        default=0.0,
        editable=False,
        help_text="How long bots could enter before the start, while the league ran.",
    )
    seen_open_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="The time up to which open_seconds counts; empty before entries opened.",
    )
    note = models.CharField(
        max_length=200,
        blank=True,
        help_text="Why the league moved the start, if it did; public.",
    )

    objects = TournamentQuerySet.as_manager()

    class Meta:
        ordering = ["-starts_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["schedule", "scheduled_for"], name="a_schedule_makes_each_event_once"
            ),
            _event_settings_in_database("a_tournament_has_numbers_within_limits"),
            models.CheckConstraint(
                condition=Q(format__in=EventSettings.Format.values),
                name="a_tournament_has_a_format",
            ),
            _times_in_database("a_tournament_has_readable_times", "entries_open_at", "starts_at"),
        ]
        indexes = [models.Index(fields=["state", "starts_at"], name="tournaments_due")]

    def __str__(self) -> str:
        return self.title

    @classmethod
    def from_db(cls, *args: Any, **options: Any) -> Self:
        """Load a row. Its state is true by the clock, also before a tick has stored it."""
        loaded = super().from_db(*args, **options)
        if loaded.get_deferred_fields().isdisjoint({"state", "entries_open_at"}):
            loaded.follow_clock(timezone.now())
        return loaded

    def follow_clock(self, now: datetime) -> None:
        """Open the entries if they are due; nothing is stored."""
        if self.state == self.State.ANNOUNCED and self.entries_open_at <= now:
            self.state = self.State.ENTRIES_OPEN

    def may_be_entered(self, now: datetime) -> bool:
        """Return whether entries before the start are open: from their opening to the start."""
        return self.state in self.NOT_STARTED and self.entries_open_at <= now < self.starts_at


class TournamentEntry(models.Model):
    """A bot's place in a tournament; the row stays once the tournament has started."""

    class State(models.TextChoices):
        """Whether the bot still takes part."""

        ENTERED = "entered", "entered"
        WITHDRAWN = "withdrawn", "withdrawn"
        DISQUALIFIED = "disqualified", "disqualified"

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="entries")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="tournament_entries")
    entered_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=12, choices=State, default=State.ENTERED)
    rating = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="Rating at the start, or at a late entry, in thousandths of an Elo point.",
    )
    first_round = models.PositiveIntegerField(
        default=1, help_text="The first round that may draw it; above 1 for a late entry."
    )
    left_after = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Number of rounds that the league had opened before the bot left.",
    )
    missed_rounds = ArrayField(
        models.PositiveIntegerField(),
        default=list,
        db_default=Value("{}"),
        blank=True,
        help_text="Numbers of the rounds that were drawn after it left and before it came back.",
    )
    reason = models.CharField(
        max_length=200,
        blank=True,
        help_text="Why organisers disqualified or withdrew it; public. Empty if its owner did.",
    )
    was_withdrawn = models.BooleanField(
        default=False, help_text="Whether it had withdrawn before it was disqualified."
    )

    class Meta:
        verbose_name_plural = "tournament entries"
        constraints = [
            models.UniqueConstraint(fields=["tournament", "bot"], name="a_bot_enters_once"),
            models.CheckConstraint(
                condition=models.Q(state="entered", left_after__isnull=True)
                | (~models.Q(state="entered") & models.Q(left_after__isnull=False)),
                name="an_entry_that_left_has_its_round",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} in {self.tournament.title}"


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    """Schedules by state."""

    def active(self) -> "ScheduleQuerySet":
        """Return the schedules that make tournaments; those that are set aside make none."""
        return self.filter(NOT_SET_ASIDE, active=True)


class Schedule(SetAside, EventSettings):
    """A rule that makes tournaments: every so many hours, or weekly at a time of day."""

    title = models.CharField(max_length=80)
    ladder = models.ForeignKey("Ladder", models.PROTECT, related_name="schedules")
    every_hours = models.PositiveSmallIntegerField(null=True, blank=True)
    weekday = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Monday is 0.")
    time_of_day = models.TimeField(null=True, blank=True)
    time_zone = models.CharField(
        max_length=50, default="UTC", help_text="A name such as Europe/London."
    )
    entry_hours = models.PositiveSmallIntegerField(
        default=1, help_text="Hours from the opening of entries to the start."
    )
    first_at = models.DateTimeField(help_text="No tournament starts before this time.")
    active = models.BooleanField(default=True)

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    every_hours__gte=1, weekday__isnull=True, time_of_day__isnull=True
                )
                | models.Q(every_hours__isnull=True, weekday__lte=6, time_of_day__isnull=False),
                name="every_so_many_hours_or_weekly",
            ),
            _event_settings_in_database("a_schedule_has_numbers_within_limits"),
            models.CheckConstraint(
                condition=Q(format__in=EventSettings.Format.values),
                name="a_schedule_has_a_format",
            ),
            _times_in_database("a_schedule_has_a_readable_time", "first_at"),
            limits_in_database(
                "a_schedule_has_hours_within_limits",
                every_hours=EVERY_HOURS,
                entry_hours=ENTRY_HOURS,
            ),
            models.CheckConstraint(
                condition=Q(time_of_day__lte=time.max), name="a_schedule_has_a_time_of_the_day"
            ),
        ]

    def __str__(self) -> str:
        return self.title
