"""Tokens: how a program proves who it is.

A token is shown once, when it is made. Stored are its first characters, so that people can
recognise their tokens, and a hash of the whole keyed with the secret key. So neither the database
nor a backup of it lets anyone in.
"""

import secrets
import time

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils.crypto import constant_time_compare, salted_hmac

from league.models import Bot, Token

OWNER_TOKEN = "tn_o_"
BOT_TOKEN = "tn_b_"

_REMEMBERED_SECONDS = 2.0
"""How long a process remembers a bot's token without reading it again: bots call very often."""
_MAX_REMEMBERED = 1_000
_remembered: dict[str, tuple[float, Token]] = {}
"""Tokens of bots and until when they are remembered, by digest."""

_PURPOSE = "league.accounts.token"
_SHOWN_CHARACTERS = len(OWNER_TOKEN) + 6
_MAX_CHARACTERS = 100


def new_owner_token(user: User) -> str:
    """Store a token that manages what a user owns, beside those the user has; return its text."""
    text, token = _make(OWNER_TOKEN)
    token.owner = user
    token.save()
    return text


def new_bot_token(bot: Bot) -> str:
    """Store a token by which a bot plays, in the place of the one it had; return its text."""
    text, token = _make(BOT_TOKEN)
    with transaction.atomic():
        # The lock makes of two that ask at once one after the other: a bot has one token.
        Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        bot.tokens.all().delete()
        token.bot = bot
        token.save()
    _remembered.clear()
    return text


def revoke(token: Token) -> None:
    """Make a token stop working, for good."""
    token.delete()
    _remembered.clear()


def find_token(text: str) -> Token | None:
    """Return the token with a text, its owner or bot with it; None where no such token works.

    The tokens of a person who is locked out work no more, nor do those of that person's bots; a
    bot's token that has just been used may work for two seconds more in other processes.
    """
    if not text.startswith((OWNER_TOKEN, BOT_TOKEN)) or len(text) > _MAX_CHARACTERS:
        return None
    digest = _digest(text)
    until, known = _remembered.get(digest, (0.0, None))
    if known is not None and time.monotonic() < until:
        return known
    token = (
        Token.objects.select_related("owner", "bot__owner", "bot__current")
        .exclude(Q(owner__is_active=False) | Q(bot__owner__is_active=False))
        .filter(digest=digest)
        .first()
    )
    if token is None or not constant_time_compare(token.digest, digest):
        return None
    if token.bot_id is not None:
        if len(_remembered) >= _MAX_REMEMBERED:
            _remembered.clear()
        _remembered[digest] = (time.monotonic() + _REMEMBERED_SECONDS, token)
    return token


def still_plays(text: str) -> bool:
    """Return whether a bot's token works: a third of the cost of finding whose it is."""
    token = Token.objects.filter(digest=_digest(text), bot__isnull=False)
    return token.exclude(bot__owner__is_active=False).exists()


def owner_for_token(text: str) -> User | None:
    """Return who manages by a token, or None where it is no owner token that works."""
    token = find_token(text)
    return token.owner if token else None


def bot_for_token(text: str) -> Bot | None:
    """Return the bot that plays by a token, or None where it is no bot token that works."""
    token = find_token(text)
    return token.bot if token else None


def _make(kind: str) -> tuple[str, Token]:
    text = kind + secrets.token_urlsafe(32)
    return text, Token(prefix=text[:_SHOWN_CHARACTERS], digest=_digest(text))


def _digest(text: str) -> str:
    return salted_hmac(_PURPOSE, text, algorithm="sha256").hexdigest()
