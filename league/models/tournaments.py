"""Tournaments, who is entered, and the schedules that make them."""

from django.db import models


class Tournament(models.Model):
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
    format = models.CharField(
        max_length=16, choices=[("round-robin", "round robin")], default="round-robin"
    )
    state = models.CharField(max_length=10, choices=State, default=State.ANNOUNCED)
    entries_open_at = models.DateTimeField()
    starts_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    seed = models.BinaryField(max_length=32)
    commitment = models.CharField(max_length=64)
    house_bots = models.BooleanField(default=True, help_text="Enter the house bots at the start.")
    schedule = models.ForeignKey(
        "Schedule", models.PROTECT, related_name="tournaments", null=True, blank=True
    )

    class Meta:
        ordering = ["-starts_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["schedule", "starts_at"], name="a_schedule_makes_each_event_once"
            )
        ]
        indexes = [models.Index(fields=["state", "starts_at"], name="tournaments_due")]

    def __str__(self) -> str:
        return self.title


class TournamentEntry(models.Model):
    """A bot that is entered for a tournament."""

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="entries")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="tournament_entries")
    entered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "tournament entries"
        constraints = [
            models.UniqueConstraint(fields=["tournament", "bot"], name="a_bot_enters_once")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} in {self.tournament.title}"


class Schedule(models.Model):
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
