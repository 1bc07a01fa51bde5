"""Tokens, by which programs authenticate, and looks of names. Accounts are Django's users."""

from django.conf import settings
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

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens", null=True, blank=True
    )
    bot = models.ForeignKey("Bot", models.CASCADE, related_name="tokens", null=True, blank=True)
    prefix = models.CharField(
        max_length=12, help_text="Its first characters, by which its owner recognises it."
    )
    digest = models.CharField(max_length=64, unique=True, help_text="Keyed hash, in hex.")
    created_at = models.DateTimeField(auto_now_add=True)

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
