"""Tokens: secrets by which programs authenticate.

A token is shown once, when it is created. The database stores its first characters, so that people
recognise their tokens, and a hash of the whole token keyed with the secret key. So a copy of the
database contains no token that works.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from league.models import Bot, Token

OWNER_TOKEN = "tn_o_"
BOT_TOKEN = "tn_b_"
PLAY_TOKEN = "tn_p_"
"""Prefix of the bot token of a player, who plays one match."""
OWNER_SCOPES = (Token.Scope.MANAGE, Token.Scope.READ, Token.Scope.ORGANISE)
"""Scopes that an owner token may have."""

REMEMBERED_SECONDS = 2.0
"""Time for which a process keeps a bot token without reading it again: bots call often."""
_MAX_REMEMBERED = 1_000
_remembered: dict[str, tuple[float, Token]] = {}
"""By text, bot tokens and the time until which they are kept. To hash each text takes longer."""
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
        raise ValidationError({"expires_at": "This time has passed; choose a later time."})
    if not scopes or len(set(scopes)) < len(scopes) or not set(scopes) <= set(OWNER_SCOPES):
        raise ValidationError({"scopes": f"Choose from {', '.join(OWNER_SCOPES)}, each once."})
    text, token = _make(OWNER_TOKEN)
    token.owner, token.name, token.expires_at = user, name, expires_at
    token.scopes = list(scopes)
    token.save()
    return text


def new_bot_token(bot: Bot) -> str:
    """Create a bot token, which replaces the bot's old one, and return its text.

    A player's bot gets a play token, with which no call works but turns and moves.
    """
    text, token = _make(PLAY_TOKEN if bot.kind == Bot.Kind.PLAYER else BOT_TOKEN)
    token.scopes = [Token.Scope.PLAY]
    with transaction.atomic():
        # A bot has one token: the lock puts simultaneous calls in order.
        Bot.with_players.select_for_update(of=("self",)).get(pk=bot.pk)
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


def find_token(text: str, *, is_use: bool = True) -> Token | None:
    """Return the token with a text, as `find_tokens` does; None if it does not work."""
    return find_tokens([text], is_use=is_use).get(text)


def find_tokens(texts: Collection[str], *, is_use: bool = True) -> dict[str, Token]:
    """Return tokens by text, joined with their owner or bot, without those that don't work.

    One query reads all tokens that this process does not remember. The tokens of a locked account
    and of its bots don't work. After a bot token is deleted, other processes that have just used it
    accept it for up to `REMEMBERED_SECONDS`.

    Args:
        texts: of tokens.
        is_use: whether this call is a use of the tokens; false for a token that was just made.
    """
    found: dict[str, Token] = {}
    unread: dict[str, str] = {}
    for text in texts:
        token = remembered_token(text)
        if token is not None:
            found[text] = token
        elif _is_well_formed(text):
            unread[_digest(text)] = text
    if not unread:
        return found
    now = timezone.now()
    rows = _working(now).select_related("owner", "bot__owner", "bot__current")
    for token in rows.filter(digest__in=[*unread]):
        asked = unread.get(token.digest, "")
        if constant_time_compare(token.digest, _digest(asked)):
            found[asked] = token
            if token.bot_id is not None:
                _remember(asked, token)
    unnoted = [
        found[text].pk
        for text in unread.values()
        if is_use and text in found and _is_use_unnoted(found[text], now)
    ]
    if unnoted:
        _note_use(unnoted, now)
    return found


def _note_use(token_ids: Collection[int], now: datetime) -> None:
    """Store when tokens were used, except in locked rows, so that no bot waits for a lock.

    The gateway reads the tokens of many bots together. A locked row is being deleted or replaced.
    """
    with transaction.atomic(savepoint=False):
        locked = Token.objects.select_for_update(skip_locked=True, no_key=True)
        free = locked.filter(pk__in=token_ids).values("pk")
        Token.objects.filter(pk__in=free).update(used_at=now)


def remembered_token(text: str) -> Token | None:
    """Return a bot token that this process has read just now, without a query; else None."""
    until, token = _remembered.get(text, (0.0, None))
    return token if time.monotonic() < until else None


def has_worked(text: str) -> bool:
    """Return whether this process has read a bot token before and may have to read it again."""
    return text in _remembered


def _is_well_formed(text: str) -> bool:
    return text.startswith((OWNER_TOKEN, BOT_TOKEN, PLAY_TOKEN)) and len(text) <= _MAX_CHARACTERS


def _remember(text: str, token: Token) -> None:
    if len(_remembered) >= _MAX_REMEMBERED:
        _remembered.clear()
    _remembered[text] = (time.monotonic() + REMEMBERED_SECONDS, token)


def _is_use_unnoted(token: Token, now: datetime) -> bool:
    return token.used_at is None or now - token.used_at >= _NOTED_EVERY


def still_play(texts: Collection[str]) -> set[str]:
    """Return the bot tokens among these that work, at a third of the cost of `find_tokens`."""
    digests = {_digest(text): text for text in texts if _is_well_formed(text)}
    working = _working(timezone.now()).filter(digest__in=[*digests], bot__isnull=False)
    return {digests[digest] for digest in working.values_list("digest", flat=True)}


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
    """Return the hash of a token; `salted_hmac` returns the same in five times the time."""
    return hmac.digest(_key(settings.SECRET_KEY), text.encode(), "sha256").hex()


@cache
def _key(secret: str) -> bytes:
    return hashlib.sha256((_PURPOSE + secret).encode()).digest()
