"""Tokens, by which programs authenticate, and looks of names. Accounts are Django's users."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class AccountName(models.Model):
    """How the name of an account looks: names that look alike have the same skeleton."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+"
    )
    skeleton = models.CharField(max_length=600, unique=True)

    def __str__(self) -> str:
        return self.skeleton


class Token(models.Model):
    """An owner token, which manages, or a bot token, which plays. Only its hash is stored."""

    class Scope(models.TextChoices):
        """What a token may do."""

        MANAGE = "manage", "change own bots, entries and tokens"
        PLAY = "play", "play as a bot"
        READ = "read", "read what its owner alone may read"
        ORGANISE = "organise", "change tournaments, if its owner is an organiser"

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens", null=True, blank=True
    )
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="tokens", null=True, blank=True)
    name = models.CharField(
        max_length=40,
        blank=True,
        default="",
        help_text="A name by which its owner recognises it, such as a computer's name.",
    )
    scopes = ArrayField(models.CharField(max_length=8, choices=Scope), default=list)
    prefix = models.CharField(
        max_length=12, help_text="Its first characters, by which its owner recognises it."
    )
    digest = models.CharField(max_length=64, unique=True, help_text="Keyed hash, in hex.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="When it stops working; empty for never."
    )
    used_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was last used, to the minute."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(owner__isnull=True, bot__isnull=False)
                | models.Q(owner__isnull=False, bot__isnull=True),
                name="a_token_is_an_owners_or_a_bots",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}..."


class DailyUse(models.Model):
    """Something that counts for a limit of an account: a bot, an upload, a challenge, and others.

    The row stays when the bot is deleted, so deleting bots does not reset a limit.
    """

    class Kind(models.TextChoices):
        """What is limited."""

        BOT = "bot", "new bot"
        UPLOAD = "upload", "uploaded version"
        RENAME = "rename", "new name of a bot"
        CHECK = "check", "version that was deleted before its check was over"
        CHALLENGE = "challenge", "challenge"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=9, choices=Kind)
    used_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["owner", "kind", "used_at"], name="daily_uses_of_an_account")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.owner}"


class FirstAnswer(models.Model):
    """The answer to a request with an ``Idempotency-Key``, which its repetitions get.

    The constraint keeps two requests with one key from running at the same time: the second waits
    until the transaction of the first ends.
    """

    client = models.CharField(
        max_length=40, help_text="Who sent it: an owner, a bot, or an address."
    )
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(
        max_length=64, help_text="Keyed hash of method, address and body."
    )
    status = models.PositiveSmallIntegerField(default=0)
    location = models.CharField(max_length=200, default="")
    body = models.JSONField(
        default=dict, help_text="The body of the first answer, without its token."
    )
    token = models.ForeignKey(Token, models.SET_NULL, related_name="+", null=True)
    has_token = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "key"], name="one_first_answer_a_key")
        ]

    def __str__(self) -> str:
        return f"{self.client}: {self.key}"
