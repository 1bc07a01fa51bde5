"""Tokens: secrets by which programs authenticate.

A token is shown once, when it is created. The database stores its first characters, so that people
recognise their tokens, and a hash of the whole token keyed with the secret key. So a copy of the
database contains no token that works.
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
"""Time for which a process keeps a bot token without reading it again: bots call often."""
_MAX_REMEMBERED = 1_000
_remembered: dict[str, tuple[float, Token]] = {}
"""By digest, bot tokens and the time until which they are kept."""

_PURPOSE = "league.accounts.token"
_SHOWN_CHARACTERS = len(OWNER_TOKEN) + 6
_MAX_CHARACTERS = 100


def new_owner_token(user: User) -> str:
    """Create an owner token beside the user's other tokens, and return its text."""
    text, token = _make(OWNER_TOKEN)
    token.owner = user
    token.save()
    return text


def new_bot_token(bot: Bot) -> str:
    """Create a bot token, which replaces the bot's old one, and return its text."""
    text, token = _make(BOT_TOKEN)
    with transaction.atomic():
        # A bot has one token: the lock puts simultaneous calls in order.
        Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        bot.tokens.all().delete()
        token.bot = bot
        token.save()
    _remembered.clear()
    return text


def revoke(token: Token) -> None:
    """Delete a token."""
    token.delete()
    _remembered.clear()


def find_token(text: str) -> Token | None:
    """Return the token with a text, joined with its owner or bot; None if it does not work.

    The tokens of a locked account and of its bots don't work. After a bot token is deleted, other
    processes that have just used it accept it for up to `_REMEMBERED_SECONDS`.
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
    """Return whether a bot token works, at a third of the cost of `find_token`."""
    token = Token.objects.filter(digest=_digest(text), bot__isnull=False)
    return token.exclude(bot__owner__is_active=False).exists()


def owner_for_token(text: str) -> User | None:
    """Return the owner of an owner token, or None if no such token works."""
    token = find_token(text)
    return token.owner if token else None


def bot_for_token(text: str) -> Bot | None:
    """Return the bot of a bot token, or None if no such token works."""
    token = find_token(text)
    return token.bot if token else None


def _make(kind: str) -> tuple[str, Token]:
    text = kind + secrets.token_urlsafe(32)
    return text, Token(prefix=text[:_SHOWN_CHARACTERS], digest=_digest(text))


def _digest(text: str) -> str:
    return salted_hmac(_PURPOSE, text, algorithm="sha256").hexdigest()
