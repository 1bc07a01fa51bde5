"""Tokens: secrets by which programs authenticate.

A token is shown once, when it is created. The database stores its first characters, so that people
recognise their tokens, and a hash of the whole token keyed with the secret key. So a copy of the
database contains no token that works.
"""

import secrets
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from league.models import Bot, Token

OWNER_TOKEN = "tn_o_"
BOT_TOKEN = "tn_b_"
OWNER_SCOPES = (Token.Scope.MANAGE, Token.Scope.READ, Token.Scope.ORGANISE)
"""Scopes that an owner token may have."""

_REMEMBERED_SECONDS = 2.0
"""Time for which a process keeps a bot token without reading it again: bots call often."""
_MAX_REMEMBERED = 1_000
_remembered: dict[str, tuple[float, Token]] = {}
"""By digest, bot tokens and the time until which they are kept."""
_NOTED_EVERY = timedelta(minutes=1)
"""A token's last use is stored at most so often."""

_PURPOSE = "league.accounts.token"
_SHOWN_CHARACTERS = len(OWNER_TOKEN) + 6
_MAX_CHARACTERS = 100


def new_owner_token(
    user: User,
    *,
    name: str = "",
    scopes: Sequence[str] = OWNER_SCOPES,
    expires_at: datetime | None = None,
) -> str:
    """Create an owner token beside the user's other tokens, and return its text.

    Args:
        user: the owner.
        name: by which the owner recognises it.
        scopes: some of `OWNER_SCOPES`.
        expires_at: when it stops working; None for never.

    Raises:
        ValidationError: by field: it expires in the past, or has no scope or one twice.
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise ValidationError({"expires_at": "This time is over; choose a later one."})
    if not scopes or len(set(scopes)) < len(scopes) or not set(scopes) <= set(OWNER_SCOPES):
        raise ValidationError({"scopes": f"Choose from {', '.join(OWNER_SCOPES)}, each once."})
    text, token = _make(OWNER_TOKEN)
    token.owner, token.name, token.expires_at = user, name, expires_at
    token.scopes = list(scopes)
    token.save()
    return text


def new_bot_token(bot: Bot) -> str:
    """Create a bot token, which replaces the bot's old one, and return its text."""
    text, token = _make(BOT_TOKEN)
    token.scopes = [Token.Scope.PLAY]
    with transaction.atomic():
        # A bot has one token: the lock puts simultaneous calls in order.
        Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        bot.tokens.all().delete()
        token.bot = bot
        token.save()
    _remembered.clear()
    return text


def renew(token: Token) -> str:
    """Give a token a new text, which is returned; the old text stops working."""
    text, new = _make(OWNER_TOKEN if token.owner_id else BOT_TOKEN)
    token.prefix, token.digest = new.prefix, new.digest
    token.save(update_fields=["prefix", "digest"])
    _remembered.clear()
    return text


def revoke(token: Token) -> None:
    """Delete a token."""
    token.delete()
    _remembered.clear()


def tokens_of(user: User) -> QuerySet[Token]:
    """Return the owner tokens of a user and the tokens of the user's bots."""
    return Token.objects.filter(Q(owner=user) | Q(bot__owner=user)).select_related("bot")


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
    now = timezone.now()
    token = (
        _working(now)
        .select_related("owner", "bot__owner", "bot__current")
        .filter(digest=digest)
        .first()
    )
    if token is None or not constant_time_compare(token.digest, digest):
        return None
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        Token.objects.filter(pk=token.pk).update(used_at=now)
    if token.bot_id is not None:
        if len(_remembered) >= _MAX_REMEMBERED:
            _remembered.clear()
        _remembered[digest] = (time.monotonic() + _REMEMBERED_SECONDS, token)
    return token


def still_plays(text: str) -> bool:
    """Return whether a bot token works, at a third of the cost of `find_token`."""
    return _working(timezone.now()).filter(digest=_digest(text), bot__isnull=False).exists()


def owner_for_token(text: str) -> User | None:
    """Return the owner of an owner token, or None if no such token works."""
    token = find_token(text)
    return token.owner if token else None


def bot_for_token(text: str) -> Bot | None:
    """Return the bot of a bot token, or None if no such token works."""
    token = find_token(text)
    return token.bot if token else None


def _working(now: datetime) -> QuerySet[Token]:
    """Return the tokens that have not expired and whose account is not locked."""
    return Token.objects.exclude(
        Q(owner__is_active=False) | Q(bot__owner__is_active=False) | Q(expires_at__lte=now)
    )


def _make(kind: str) -> tuple[str, Token]:
    text = kind + secrets.token_urlsafe(32)
    return text, Token(prefix=text[:_SHOWN_CHARACTERS], digest=_digest(text))


def _digest(text: str) -> str:
    return salted_hmac(_PURPOSE, text, algorithm="sha256").hexdigest()
