"""Bots and their versions."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models


class Bot(models.Model):
    """A player by name; who it belongs to and where it runs."""

    class Kind(models.TextChoices):
        """Where a bot runs."""

        HOUSE = "house", "house bot, run by the workers"
        REMOTE = "remote", "remote, plays over the API"
        HOSTED = "hosted", "hosted, uploaded and run in the sandbox"

    name = models.CharField(
        max_length=32,
        unique=True,
        validators=[
            RegexValidator(
                r"\A[a-z0-9-]{3,32}\Z", "A bot's name is 3 to 32 of the characters a-z, 0-9 and -."
            )
        ],
    )
    kind = models.CharField(max_length=8, choices=Kind)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="bots",
        null=True,
        blank=True,
        help_text="None for house bots.",
    )
    description = models.CharField(max_length=500, blank=True)
    paused = models.BooleanField(default=False)
    current = models.ForeignKey(
        "BotVersion", models.PROTECT, related_name="+", null=True, blank=True
    )
    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When a remote bot last asked for turns."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="house") | models.Q(owner__isnull=False),
                name="only_house_bots_have_no_owner",
            )
        ]

    def __str__(self) -> str:
        return self.name


class BotVersion(models.Model):
    """A bot as it was from one upload to the next; versions are numbered from 1."""

    class State(models.TextChoices):
        """Whether a version may play."""

        CHECKING = "checking", "being checked"
        READY = "ready", "ready"
        REFUSED = "refused", "refused"

    bot = models.ForeignKey(Bot, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.READY)
    note = models.CharField(max_length=500, blank=True)
    held = models.BooleanField(
        default=False,
        help_text="It does not take over when it is ready, but when it is promoted.",
    )
    reason = models.CharField(
        max_length=500, blank=True, default="", help_text="Why it was refused."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["bot", "number"]
        constraints = [
            models.UniqueConstraint(fields=["bot", "number"], name="one_version_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} v{self.number}"
