"""Limits on the bots, versions and names of bots that one account makes in 24 hours.

Each counts as a row that the deletion of a bot leaves in place. So does a version that is deleted
before its check is over: a worker may still check it.
"""

import math
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from league.models import Bot, DailyUse

_PERIOD = timedelta(hours=24)
DAILY_LIMITS = ("too-many-bots", "too-many-versions", "too-many-renames", "too-many-challenges")
"""The codes of the errors here."""


def count_bot(owner: User, now: datetime) -> None:
    """Count a new bot of an account; call it in the transaction that creates the bot.

    Raises:
        ValidationError: with code ``too-many-bots`` and the parameter ``retry_seconds``.
    """
    _count(owner, now, DailyUse.Kind.BOT, settings.MAX_BOTS_PER_DAY, "bots", "too-many-bots")


def count_upload(owner: User, now: datetime) -> None:
    """Count an uploaded version, as `count_bot`, with code ``too-many-versions``."""
    limit = settings.MAX_UPLOADS_PER_DAY
    _count(owner, now, DailyUse.Kind.UPLOAD, limit, "uploads", "too-many-versions")


def count_rename(owner: User, now: datetime) -> None:
    """Count a new name of a bot, as `count_bot`, with code ``too-many-renames``."""
    limit = settings.MAX_RENAMES_PER_DAY
    _count(owner, now, DailyUse.Kind.RENAME, limit, "bot names", "too-many-renames")


def count_challenge(owner: User, now: datetime) -> None:
    """Count a challenge that an account starts, as `count_bot`, with ``too-many-challenges``."""
    limit = settings.MAX_CHALLENGES_PER_DAY
    _count(owner, now, DailyUse.Kind.CHALLENGE, limit, "challenges", "too-many-challenges")


def note_deleted_checks(bot: Bot, now: datetime, count: int | None = None) -> None:
    """Note so many checks of a bot that may still run; None: of all its unchecked versions."""
    if bot.owner_id is None:
        return
    checks = bot.versions.checking().count() if count is None else count
    DailyUse.objects.bulk_create(
        DailyUse(owner_id=bot.owner_id, kind=DailyUse.Kind.CHECK, used_at=now)
        for _ in range(checks)
    )


def deleted_checks(owner: User, now: datetime) -> int:
    """Return how many versions of an account were deleted so lately that a check may still run."""
    uses = DailyUse.objects.filter(owner=owner, kind=DailyUse.Kind.CHECK)
    uses.filter(used_at__lte=now - timedelta(seconds=settings.MAX_CHECK_SECONDS)).delete()
    return uses.count()


def _count(
    owner: User, now: datetime, kind: DailyUse.Kind, limit: int, noun: str, code: str
) -> None:
    with transaction.atomic():
        # Under the lock two calls at once don't both take the last place.
        User.objects.select_for_update(no_key=True).get(pk=owner.pk)
        uses = DailyUse.objects.filter(owner=owner, kind=kind)
        uses.filter(used_at__lte=now - _PERIOD).delete()
        latest = uses.order_by("-used_at").values_list("used_at", flat=True)
        oldest = latest[limit - 1 : limit].first() if limit else None
        if limit and oldest is None:
            DailyUse.objects.create(owner=owner, kind=kind, used_at=now)
            return
    seconds = math.ceil((oldest + _PERIOD - now).total_seconds()) if oldest else 24 * 3600
    raise ValidationError(
        "An account may have at most %(limit)s new %(noun)s in 24 hours. Try again in %(wait)s.",
        code=code,
        params={
            "limit": limit,
            "noun": noun,
            "wait": rounded_up(max(1, seconds)),
            "retry_seconds": max(1, seconds),
        },
    )


def rounded_up(seconds: int) -> str:
    """Return a time in whole minutes, or in whole hours from two hours on."""
    minutes = math.ceil(seconds / 60)
    if minutes < 120:
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    return f"{math.ceil(minutes / 60)} hours"
