"""Bots and their versions."""

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from league.models.limits import CHALLENGES_PER_DAY, limits_in_database
from league.models.moderation import in_quarantine

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


NAME_PATTERN = r"[a-z0-9-]{3,32}"
"""A bot's name, as a whole."""
PLAYER_NAME_PATTERN = r"[a-z0-9-]{1,20}_[a-z0-9]{6}"
"""The name of a player's bot: no other bot can have a name with an underscore."""
MAX_DESCRIPTION = 500
ONLINE_FOR = timedelta(seconds=60)
JUST_FOR = timedelta(seconds=10)
"""A remote bot has just come online if it did so in this time."""
"""A remote bot is online for so long after it asked for turns."""


class BotQuerySet(models.QuerySet["Bot"]):
    """Bots by kind, owner and readiness."""

    def house(self) -> "BotQuerySet":
        """Return the bots of the league itself."""
        return self.filter(kind=Bot.Kind.HOUSE)

    def hosted(self) -> "BotQuerySet":
        """Return the uploaded bots, which workers run in the sandbox."""
        return self.filter(kind=Bot.Kind.HOSTED)

    def remote(self) -> "BotQuerySet":
        """Return the bots that their owners run."""
        return self.filter(kind=Bot.Kind.REMOTE)

    def run_by_workers(self) -> "BotQuerySet":
        """Return house bots and hosted bots."""
        return self.exclude(kind=Bot.Kind.REMOTE)

    def owned_by(self, owner: "User | AnonymousUser") -> "BotQuerySet":
        """Return the bots of an owner; none for a visitor without an account."""
        return self.filter(owner=owner) if owner.is_authenticated else self.none()

    def active(self) -> "BotQuerySet":
        """Return the bots that are not retired."""
        return self.filter(retired_at=None)

    def locked(self) -> "BotQuerySet":
        """Lock bots that are not deleted, so that none is deleted until the transaction ends.

        All lock them in the same order. A join may be older than the lock, so read what belongs to
        a bot in a second statement.
        """
        return self.active().select_for_update(of=("self",), no_key=True).order_by("pk")

    def playable(self) -> "BotQuerySet":
        """Return the bots that may play: with a ready current version of the bot itself.

        They are not paused, retired or in quarantine. `league.bots.playable` decides the same for
        one bot, and names the reason.
        """
        ready = self.active().filter(
            paused=False, current__bot=F("pk"), current__state=BotVersion.State.READY
        )
        return ready.exclude(in_quarantine(timezone.now()))

    def with_quarantine(self) -> "BotQuerySet":
        """Annotate ``quarantined``: whether the bot or its account is in quarantine now."""
        return self.annotate(quarantined=in_quarantine(timezone.now()))

    def online(self) -> "BotQuerySet":
        """Return all but the remote bots that asked for no turns in the last 60 s."""
        return self.filter(~Q(kind=Bot.Kind.REMOTE) | Q(seen_at__gte=timezone.now() - ONLINE_FOR))


def just_online() -> Q:
    """Return the condition for remote bots that have just come online."""
    return Q(kind=Bot.Kind.REMOTE, online_since__gte=timezone.now() - JUST_FOR)


class _HidesPlayers(models.Manager["Bot"]):
    """All bots but those of players, which are in no list, search or count."""

    def get_queryset(self) -> models.QuerySet["Bot"]:
        """Return the bots."""
        return super().get_queryset().exclude(kind=Bot.Kind.PLAYER)


BotManager = _HidesPlayers.from_queryset(BotQuerySet)


class Bot(models.Model):
    """A player by name; it belongs to an owner and runs in one place."""

    class Kind(models.TextChoices):
        """Where a bot runs."""

        HOUSE = "house", "house bot: a bot of the league itself"
        REMOTE = "remote", "remote bot: runs on its owner's machine, plays over the API"
        HOSTED = "hosted", "hosted bot: uploaded, runs in the league's sandbox"
        PLAYER = "player", "player: a person in the browser, for one match"

    class Challengers(models.TextChoices):
        """Who may challenge a bot."""

        ANYONE = "anyone", "anyone"
        NOBODY = "nobody", "nobody"

    name = models.CharField(
        max_length=32,
        unique=True,
        validators=[
            RegexValidator(
                rf"\A{NAME_PATTERN}\Z", "A bot's name has 3 to 32 characters: a-z, 0-9 and -."
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
        help_text="Empty for house bots and players.",
    )
    description = models.CharField(max_length=MAX_DESCRIPTION, blank=True)
    paused = models.BooleanField(
        default=False,
        help_text="Paused by its owner. Organisers use a quarantine to keep a bot out instead.",
    )
    challenges_from = models.CharField(
        max_length=6,
        choices=Challengers,
        default=Challengers.ANYONE,
        help_text="Who may challenge the bot. House bots accept every challenge. Every bot "
        "accepts challenges of its own owner.",
    )
    max_challenges_per_day = models.PositiveSmallIntegerField(
        default=100,
        help_text="Challenges of other owners, and tables that others start with "
        "it, that the bot accepts in 24 hours.",
    )
    current = models.ForeignKey(
        "BotVersion", models.PROTECT, related_name="+", null=True, blank=True
    )
    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When a remote bot last asked for turns."
    )
    online_since = models.DateTimeField(
        null=True, blank=True, help_text="When a remote bot last came online."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(
        null=True, blank=True, help_text="When its owner deleted it; its results stay."
    )

    objects = BotManager()
    with_players = BotQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["house", "player"]) | models.Q(owner__isnull=False),
                name="only_house_bots_have_no_owner",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["house", "remote", "hosted", "player"]),
                name="a_bot_has_a_kind",
            ),
            models.CheckConstraint(
                condition=(~models.Q(kind="player") & models.Q(name__regex=f"^{NAME_PATTERN}$"))
                | models.Q(kind="player", name__regex=f"^{PLAYER_NAME_PATTERN}$"),
                name="a_bot_has_a_name",
            ),
            models.CheckConstraint(
                condition=models.Q(challenges_from__in=["anyone", "nobody"]),
                name="a_bot_has_challengers",
            ),
            limits_in_database(
                "challenges_per_day_are_within_limits", max_challenges_per_day=CHALLENGES_PER_DAY
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def current_version(self) -> "BotVersion | None":
        """Return the current version; the version's bot is this one, which spares a query."""
        if self.current is not None:
            self.current.bot = self
        return self.current


class FormerName(models.Model):
    """A name that a bot had before; its addresses lead to the bot, and no other bot gets it.

    A bot keeps its last few (`league.bots.registering`); older names are free again.
    """

    name = models.CharField(max_length=32, unique=True)
    bot = models.ForeignKey(Bot, models.CASCADE, related_name="former_names")

    def __str__(self) -> str:
        return f"{self.name} is {self.bot.name} now"


class BotVersionQuerySet(models.QuerySet["BotVersion"]):
    """Versions by state."""

    def checking(self) -> "BotVersionQuerySet":
        """Return the versions whose check is not over."""
        return self.filter(state=BotVersion.State.CHECKING)

    def ready(self) -> "BotVersionQuerySet":
        """Return the versions that may play."""
        return self.filter(state=BotVersion.State.READY)


class BotVersion(models.Model):
    """One upload of a bot; versions are numbered from 1."""

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
        help_text="A held version does not become current after its check. You can promote it "
        "later, or allow a comparison to promote it if it is better.",
    )
    reason = models.CharField(
        max_length=500, blank=True, default="", help_text="Why the check refused it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BotVersionQuerySet.as_manager()

    class Meta:
        ordering = ["bot", "number"]
        constraints = [
            models.UniqueConstraint(fields=["bot", "number"], name="one_version_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} v{self.number}"
