"""Challenges: one unrated block of an owner's bot against bots that the owner names."""

from collections import Counter
from collections.abc import Iterable

from django.db import models
from django.db.models import Exists, OuterRef

from league.models.matches import Match


class ChallengeQuerySet(models.QuerySet["Challenge"]):
    """Challenges by state."""

    def unfinished(self) -> "ChallengeQuerySet":
        """Return the challenges with a match that waits or is being played."""
        return self.filter(Exists(Match.objects.unfinished().filter(challenge=OuterRef("pk"))))


class Challenge(models.Model):
    """One unrated block; each of its matches refers to it, and its state follows from them."""

    class State(models.TextChoices):
        """How far a challenge is."""

        WAITING = "waiting", "waiting to be played"
        PLAYING = "playing", "being played"
        FINISHED = "finished", "finished"
        VOID = "void", "void"

    bot = models.ForeignKey(
        "Bot",
        models.PROTECT,
        related_name="challenges_made",
        help_text="The bot of the owner who started it.",
    )
    game = models.CharField(max_length=20)
    rules = models.CharField(max_length=40)
    duplicate = models.BooleanField(help_text="All its matches use one deal.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ChallengeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"challenge {self.pk}"

    @staticmethod
    def state_of(matches: Iterable[Match]) -> State:
        """Return the state of a challenge with these matches."""
        state = Challenge.State
        statuses = Counter(match.status for match in matches)
        if statuses[Match.Status.VOID]:
            return state.VOID
        if statuses[Match.Status.FINISHED] == statuses.total():
            return state.FINISHED
        return state.WAITING if set(statuses) == {Match.Status.WAITING} else state.PLAYING


class ChallengeBot(models.Model):
    """A bot in a challenge, in the version that was current when the challenge was started."""

    challenge = models.ForeignKey(Challenge, models.CASCADE, related_name="bots")
    bot = models.ForeignKey("Bot", models.PROTECT, related_name="challenges")
    version = models.ForeignKey("BotVersion", models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["challenge", "bot"], name="a_bot_once_in_a_challenge")
        ]
        indexes = [models.Index(fields=["bot", "-challenge"], name="challenges_of_a_bot")]

    def __str__(self) -> str:
        return f"{self.version} in {self.challenge}"
