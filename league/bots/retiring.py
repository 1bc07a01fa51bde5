"""Delete a bot: one that has played is retired, so that its results stay; another one vanishes."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from league.bots.daily_limits import note_deleted_checks
from league.models import Bot, BotSource, BotVersion, Match, QualifyingMatch


def require_active(bot: Bot) -> None:
    """Raise if a bot is retired (code ``bot-retired``)."""
    if bot.retired_at is not None:
        raise _deleted(f"The bot {bot}")


def lock_active(bot_id: int) -> Bot:
    """Lock a bot until the transaction ends, so that it is not deleted meanwhile; return its row.

    Raises:
        ValidationError: it was deleted (code ``bot-retired``).
    """
    locked = Bot.objects.select_for_update(of=("self",), no_key=True).filter(pk=bot_id).first()
    if locked is None:
        raise _deleted("The bot")
    require_active(locked)
    return locked


def has_played(bot: Bot) -> bool:
    """Return whether a bot has a seat in any match."""
    return Match.objects.with_bots(bot.pk).exists()


def remove(bot: Bot) -> None:
    """Delete a bot that has never played, with its versions, sources and tokens.

    Raises:
        ProtectedError: a round or tournament has the bot.
    """
    with transaction.atomic():
        note_deleted_checks(bot, timezone.now())
        Bot.objects.filter(pk=bot.pk).update(current=None)
        bot.versions.all().delete()
        bot.delete()


def retire(bot: Bot, now: datetime) -> None:
    """Retire a bot: no round draws it, its tokens don't work, and its sources are erased.

    A source that a match in play still needs is erased by `erase_sources`, which runs every hour.
    """
    with transaction.atomic():
        locked = Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        if locked.kind == Bot.Kind.HOUSE:
            raise ValidationError(
                f"{locked} is a house bot, so you can't delete it.", code="not-your-bot"
            )
        if locked.retired_at is None:
            locked.retired_at = now
        locked.paused, locked.description = True, ""
        locked.save(update_fields=["retired_at", "paused", "description"])
        locked.tokens.all().delete()
        note_deleted_checks(locked, now)
        BotVersion.objects.filter(bot=locked, state=BotVersion.State.CHECKING).update(
            state=BotVersion.State.REFUSED, reason="The bot was deleted before its check."
        )
        BotVersion.objects.filter(bot=locked).update(note="")
        erase_sources(locked)


def erase_sources(bot: Bot | None = None) -> int:
    """Erase what retired bots uploaded and printed, unless a match in play still needs it.

    Args:
        bot: erase those of one bot only.

    Returns:
        The number of erased rows.
    """
    versions = BotVersion.objects.filter(bot__retired_at__isnull=False)
    if bot is not None:
        versions = versions.filter(bot=bot)
    in_play = Match.objects.unfinished().values_list("version_ids", flat=True)
    idle = versions.exclude(pk__in={version for ids in in_play for version in ids})
    erased: int = BotSource.objects.filter(version__in=idle).delete()[0]
    return erased + QualifyingMatch.objects.filter(version__in=idle).delete()[0]


def _deleted(bot: str) -> ValidationError:
    return ValidationError(
        f"{bot} was deleted, so it can't change or play any more.", code="bot-retired"
    )
