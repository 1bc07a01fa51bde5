"""Limits on the bots and versions that one account makes in 24 hours."""

import math
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet

from league.models import Bot, BotVersion

_PERIOD = timedelta(hours=24)


def require_another_bot(owner: User, now: datetime) -> None:
    """Raise a `ValidationError` if an account has created its bots of 24 hours.

    Raises:
        ValidationError: with code ``too-many-bots`` and the parameter ``retry_seconds``.
    """
    _require_one_more(
        Bot.objects.filter(owner=owner), now, settings.MAX_BOTS_PER_DAY, "bots", "too-many-bots"
    )


def require_another_version(bot: Bot, now: datetime) -> None:
    """Raise a `ValidationError` if the bot's owner has uploaded the versions of 24 hours.

    Raises:
        ValidationError: with code ``too-many-versions`` and the parameter ``retry_seconds``.
    """
    _require_one_more(
        BotVersion.objects.filter(bot__owner=bot.owner_id, bot__kind=Bot.Kind.HOSTED),
        now,
        settings.MAX_UPLOADS_PER_DAY,
        "uploads",
        "too-many-versions",
    )


def _require_one_more(
    rows: QuerySet[Model], now: datetime, limit: int, noun: str, code: str
) -> None:
    newest = rows.filter(created_at__gt=now - _PERIOD).order_by("-created_at")
    times = list(newest.values_list("created_at", flat=True)[:limit])
    if len(times) < limit:
        return
    seconds = math.ceil((times[-1] + _PERIOD - now).total_seconds()) if times else 24 * 3600
    raise ValidationError(
        "An account may have %(limit)s new %(noun)s in 24 hours. You can add the next one in "
        "%(minutes)s minutes.",
        code=code,
        params={
            "limit": limit,
            "noun": noun,
            "minutes": max(1, math.ceil(seconds / 60)),
            "retry_seconds": max(1, seconds),
        },
    )
