"""Quarantine, as the rest of the league reads it: whether a bot is in quarantine, and why.

`league.moderation.quarantines` puts bots and accounts in quarantine, and voids what waits for them.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import F, Q
from django.utils import timezone

from league.models import Bot, Quarantine


def quarantine_of(bot: Bot) -> Quarantine | None:
    """Return the quarantine that keeps a bot out now: its own, or else its account's."""
    of_bot = Q(bot=bot.pk)
    if bot.owner_id is not None:
        of_bot |= Q(account=bot.owner_id)
    found = Quarantine.objects.active(timezone.now()).filter(of_bot)
    own_first = F("account").asc(nulls_first=True)
    return found.select_related("bot", "account").order_by(own_first, "-pk").first()


def own_quarantine(bot: Bot) -> Quarantine | None:
    """Return the quarantine of a bot itself; None if there is none or only its account's."""
    return Quarantine.objects.active(timezone.now()).filter(bot=bot).order_by("-pk").first()


def account_quarantine(account: User) -> Quarantine | None:
    """Return the quarantine of an account; None without one."""
    found = Quarantine.objects.active(timezone.now()).filter(account=account)
    return found.order_by("-pk").first()


def require_free(bot: Bot) -> None:
    """Raise if a bot is in quarantine. Call it where a bot would get a new match.

    Raises:
        ValidationError: with code ``quarantined``: the reason and the end.
    """
    if (held := quarantine_of(bot)) is not None:
        raise ValidationError(describe(bot, held), code="quarantined")


def describe(bot: Bot, held: Quarantine) -> str:
    """Return a sentence for a bot's owner: who is in quarantine, until when, and why."""
    what = f"{bot} is" if held.account_id is None else f"The account of {bot} is"
    return f"{what} in quarantine {end_text(held.ends_at)}. The reason: {held.reason}"


def end_text(ends_at: datetime | None) -> str:
    """Return the end of a quarantine in words."""
    if ends_at is None:
        return "until an organiser lifts it"
    return f"until {ends_at:%Y-%m-%d %H:%M} UTC"
