"""Create, rename and change bots."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from engine.errors import nearest
from league.accounts import name_taken, new_bot_token
from league.bots.daily_limits import count_bot, count_rename
from league.bots.retiring import lock_active, require_active
from league.bots.settings_checks import bot_problems
from league.models import Bot, BotVersion, FormerName
from league.models.settings_problems import require_valid, values_of

KEPT_NAMES = 3
"""The former names that a bot keeps."""


def create_bot(*, owner: User, name: str, kind: str) -> tuple[Bot, str]:
    """Create a bot; return it and the text of its token.

    A remote bot can play at once, as version 1; a hosted bot once an upload passes its check.

    Raises:
        ValidationError: by field: the name is taken or not allowed, or there is no such kind. Or
            with code ``too-many-bots``: the owner has created too many bots in 24 hours.
    """
    bot = Bot(owner=owner, name=name, kind=kind)
    require_valid(bot_problems(values_of(bot)))
    try:
        with transaction.atomic():
            count_bot(owner, timezone.now())
            _require_free(name, bot)
            bot.save()
            if kind == Bot.Kind.REMOTE:
                bot.current = BotVersion.objects.create(bot=bot, number=1)
                bot.save(update_fields=["current"])
            return bot, new_bot_token(bot)
    except IntegrityError:
        raise ValidationError({"name": [name_taken("name", name)]}) from None


def change_bot(
    bot: Bot,
    *,
    name: str | None = None,
    paused: bool | None = None,
    description: str | None = None,
    challenges_from: str | None = None,
    max_challenges_per_day: int | None = None,
) -> Bot:
    """Change the name and settings of a bot; a field that is None stays as it is.

    The old name leads to the bot (`find_renamed`), and no other bot can take it, until the bot has
    had `KEPT_NAMES` later ones.

    Raises:
        ValidationError: by field: the name is taken, or a value is not allowed. Or with a code:
            the bot is retired (``bot-retired``), or the owner has renamed bots too
            often in 24 hours (``too-many-renames``).
    """
    require_active(bot)
    changed = {
        "name": name,
        "paused": paused,
        "description": description,
        "challenges_from": challenges_from,
        "max_challenges_per_day": max_challenges_per_day,
    }
    changed = {field: value for field, value in changed.items() if value is not None}
    for field, value in changed.items():
        setattr(bot, field, value)
    require_valid(bot_problems(values_of(bot)))
    try:
        with transaction.atomic():
            # Everybody who locks a bot and its owner locks the bot first.
            old = lock_active(bot.pk).name
            if name is not None and name != old:
                _require_free(bot.name, bot)
                if bot.owner is not None:
                    count_rename(bot.owner, timezone.now())
                bot.former_names.filter(name=bot.name).delete()
                FormerName.objects.create(name=old, bot=bot)
                kept = bot.former_names.order_by("-pk").values("pk")[:KEPT_NAMES]
                bot.former_names.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()
            bot.save(update_fields=list(changed))
    except IntegrityError:
        raise ValidationError({"name": [name_taken("name", bot.name)]}) from None
    return bot


def renew_token(bot: Bot) -> str:
    """Replace a bot's token; return the text of the new one.

    Raises:
        ValidationError: the bot was deleted (code ``bot-retired``).
    """
    with transaction.atomic():
        lock_active(bot.pk)
        return new_bot_token(bot)


def find_renamed(name: str) -> Bot | None:
    """Return the bot that had a name before; None if there is none."""
    former = FormerName.objects.select_related("bot").filter(name=name).first()
    return former.bot if former else None


def find_by_name(name: str) -> Bot | None:
    """Return the bot that has a name or had it before, with its owner; None if there is none."""
    named = Bot.objects.select_related("owner").filter(name=name).first()
    return named or find_renamed(name)


def why_unknown(name: str) -> str:
    """Return that no bot has a name, with its new name or the nearest name of an active bot."""
    if renamed := find_renamed(name):
        return f"There is no bot {name}. The bot {name} is called {renamed.name} now."
    near = nearest(name, names_like(name))
    return f"There is no bot {name}." + (f" Did you mean {near}?" if near else "")


def names_like(name: str) -> list[str]:
    """Return up to 200 names of active bots that begin or end like a name.

    A name with one wrong character still has its first or its last half.
    """
    half = max(1, len(name) // 2)
    likeness = Q(name__startswith=name[:half]) | Q(name__endswith=name[-half:])
    return list(
        Bot.objects.active().filter(likeness).order_by("name").values_list("name", flat=True)[:200]
    )


def _require_free(name: str, bot: Bot) -> None:
    """Raise if another bot has or had a name; name your own bot, or the owner of an active one."""
    other = Bot.objects.select_related("owner").filter(name=name).exclude(pk=bot.pk).first()
    if other is None:
        if FormerName.objects.filter(name=name).exclude(bot=bot.pk).exists():
            raise ValidationError({"name": [name_taken("name", name)]})
        return
    text = ""
    if other.owner_id is not None and other.owner_id == bot.owner_id:
        bot_of = f"your own {other.kind} bot"
        text = f"The name %(value)s is taken by {bot_of}; use that bot, or choose another name."
    elif other.retired_at is None:
        owner = f"a bot of {other.owner}" if other.owner else "a house bot"
        text = f"The name %(value)s is taken by {owner}; choose another."
    raise ValidationError({"name": [name_taken("name", name, text)]})
