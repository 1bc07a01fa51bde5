"""Accounts, tokens and bots: who somebody is, and what belongs to whom.

A token is shown once, when it is made. Stored are its first characters, so that people can tell
their tokens apart, and a hash of the whole keyed with the secret key, so that neither the database
nor a backup of it lets anyone in.
"""

import secrets
import time
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.crypto import constant_time_compare, salted_hmac

from league.models import Bot, BotVersion, Token

OWNER_TOKEN = "tn_o_"
BOT_TOKEN = "tn_b_"
ONLINE_FOR = timedelta(seconds=60)
"""How long a remote bot counts as online after it has asked for turns."""

ORGANISERS = "organisers"
"""The group of those who set up tournaments; staff may too."""

_REMEMBERED_FOR = 2.0
"""Seconds for which a process goes by what it knows of a bot's token: bots call very often."""
_MOST_REMEMBERED = 1_000
_remembered: dict[str, tuple[float, Token]] = {}
"""Tokens of bots and until when they hold, by digest."""

_PURPOSE = "league.accounts.token"
_SHOWN = len(OWNER_TOKEN) + 6
_LONGEST = 100


def create_account(*, username: str, password: str) -> tuple[User, str]:
    """Create an account; return it and the text of its first owner token.

    Raises:
        ValidationError: by field: the name is taken, whatever its case, or not allowed, or the
            password is too easy to guess.
    """
    users = get_user_model()
    user = users(username=users.normalize_username(username))
    errors: dict[str, list[ValidationError]] = {}
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError as error:
        errors.update(error.error_dict)
    else:
        if users.objects.filter(username__iexact=user.username).exists():
            errors["username"] = [_taken("username", user.username)]
    try:
        validate_password(password, user)
    except ValidationError as error:
        errors["password"] = error.error_list
    if errors:
        raise ValidationError(errors)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
            return user, new_owner_token(user)
    except IntegrityError:
        raise ValidationError({"username": [_taken("username", user.username)]}) from None


def new_owner_token(user: User) -> str:
    """Store a token that manages what a user owns, beside those the user has; return its text."""
    text, token = _make(OWNER_TOKEN)
    token.owner = user
    token.save()
    return text


def revoke(token: Token) -> None:
    """Make a token stop working, for good."""
    token.delete()
    _remembered.clear()


def create_bot(*, owner: User, name: str, kind: str) -> tuple[Bot, str]:
    """Create a bot; return it and the text of its token.

    A remote bot may play at once, as version 1; a hosted one when it has been uploaded.

    Raises:
        ValidationError: by field: the name is taken or not allowed, or there is no such kind.
    """
    bot = Bot(owner=owner, name=name, kind=kind)
    if kind == Bot.Kind.HOUSE:
        raise ValidationError({"kind": "House bots belong to the house: remote or hosted."})
    bot.clean_fields()
    if Bot.objects.filter(name=name).exists():
        raise ValidationError({"name": [_taken("name", name)]})
    try:
        with transaction.atomic():
            bot.save()
            if kind == Bot.Kind.REMOTE:
                bot.current = BotVersion.objects.create(bot=bot, number=1)
                bot.save(update_fields=["current"])
            return bot, new_bot_token(bot)
    except IntegrityError:
        raise ValidationError({"name": [_taken("name", name)]}) from None


def change_bot(bot: Bot, *, paused: bool | None = None, description: str | None = None) -> Bot:
    """Pause, resume or describe a bot; what is None stays as it is.

    Raises:
        ValidationError: by field: the description is too long.
    """
    changed = {"paused": paused, "description": description}
    changed = {field: value for field, value in changed.items() if value is not None}
    for field, value in changed.items():
        setattr(bot, field, value)
    bot.clean_fields(exclude={"name", "kind", "owner", "current"})
    bot.save(update_fields=list(changed))
    return bot


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


def find_token(text: str) -> Token | None:
    """Return the token with a text, its owner or bot with it; None where no such token works.

    The tokens of a person who is locked out work no more, nor do those of that person's bots; a
    bot's token that has just been used may work for two seconds more in other processes.
    """
    if not text.startswith((OWNER_TOKEN, BOT_TOKEN)) or len(text) > _LONGEST:
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
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[digest] = (time.monotonic() + _REMEMBERED_FOR, token)
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


def is_organiser(user: Any) -> bool:
    """Return whether somebody may set up events: staff, and those in the group `ORGANISERS`."""
    return bool(
        user.is_authenticated and (user.is_staff or user.groups.filter(name=ORGANISERS).exists())
    )


def is_online(bot: Bot, now: datetime) -> bool:
    """Return whether a bot would answer now: a remote one must have asked for turns of late."""
    if bot.kind != Bot.Kind.REMOTE:
        return bot.current_id is not None
    return bot.seen_at is not None and now - bot.seen_at <= ONLINE_FOR


def _make(kind: str) -> tuple[str, Token]:
    text = kind + secrets.token_urlsafe(32)
    return text, Token(prefix=text[:_SHOWN], digest=_digest(text))


def _digest(text: str) -> str:
    return salted_hmac(_PURPOSE, text, algorithm="sha256").hexdigest()


def _taken(field: str, value: str) -> ValidationError:
    return ValidationError(
        "The %(field)s %(value)s is taken.", code="taken", params={"field": field, "value": value}
    )
