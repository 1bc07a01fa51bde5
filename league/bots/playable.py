"""Whether a bot can play now, and if not, why: the one rule for rounds, entries and challenges.

`Bot.objects.playable().online()` keeps the bots without an obstacle, for queries over many bots.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from enum import StrEnum

from django.core.exceptions import ValidationError
from django.utils import timezone

from league.accounts.quarantines import describe, quarantine_of
from league.bots.retiring import require_active
from league.models import Bot, BotVersion
from league.models.bots import ONLINE_FOR


class Obstacle(StrEnum):
    """A reason why a bot gets no new match; the value is the code of the API's error."""

    RETIRED = "bot-retired"
    QUARANTINED = "quarantined"
    PAUSED = "bot-paused"
    NO_VERSION = "no-version"
    OFFLINE = "bot-offline"


def obstacles(
    bot: Bot, now: datetime | None = None, *, quarantined: bool | None = None
) -> Iterator[Obstacle]:
    """Yield the reasons why a bot can't play now, in the order of `Obstacle`.

    Args:
        bot: any.
        now: the time.
        quarantined: whether it is in quarantine, if that is known; else it costs a query.
    """
    if bot.retired_at is not None:
        yield Obstacle.RETIRED
    if quarantine_of(bot) is not None if quarantined is None else quarantined:
        yield Obstacle.QUARANTINED
    if bot.paused:
        yield Obstacle.PAUSED
    if bot.current_id is None:
        yield Obstacle.NO_VERSION
    if bot.kind == Bot.Kind.REMOTE and not _asked_lately(bot, now or timezone.now()):
        yield Obstacle.OFFLINE


def is_online(bot: Bot, now: datetime) -> bool:
    """Return whether a bot has a version and, if it is remote, asked for turns in the last 60 s."""
    if bot.kind != Bot.Kind.REMOTE:
        return bot.current_id is not None
    return _asked_lately(bot, now)


def _asked_lately(bot: Bot, now: datetime) -> bool:
    return bot.seen_at is not None and now - bot.seen_at <= ONLINE_FOR


def require_playable(bot: Bot, *, despite: Collection[Obstacle] = ()) -> None:
    """Raise if a bot can't play now. The message is for its owner.

    Args:
        bot: any.
        despite: obstacles that the caller allows.

    Raises:
        ValidationError: with the code of the first other obstacle.
    """
    for obstacle in obstacles(bot):
        if obstacle not in despite:
            _refuse(bot, obstacle)


def _refuse(bot: Bot, obstacle: Obstacle) -> None:
    match obstacle:
        case Obstacle.RETIRED:
            require_active(bot)
        case Obstacle.QUARANTINED if (held := quarantine_of(bot)) is not None:
            raise ValidationError(describe(bot, held), code=obstacle)
        case Obstacle.PAUSED:
            raise ValidationError(
                f"{bot} is paused. Resume it first: `twelfth-night bot resume {bot}`, the button "
                f"on the page My bots, or PATCH /api/v1/bots/{bot} with paused: false.",
                code=obstacle,
            )
        case Obstacle.NO_VERSION:
            raise ValidationError(_without_version(bot), code=obstacle)
        case Obstacle.OFFLINE:
            raise ValidationError(
                f"{bot} is offline: it asked for no turns in the last 60 s. Start its program "
                "(`twelfth-night run`).",
                code=obstacle,
            )


def _without_version(bot: Bot) -> str:
    last = bot.versions.order_by("-number").first()
    if last is None:
        return f"{bot} has no version yet. Upload one first (POST /api/v1/bots/{bot}/versions)."
    number = last.number
    match last.state:
        case BotVersion.State.CHECKING:
            return f"{bot} can't play yet: version {number} is still being checked. Try again soon."
        case BotVersion.State.READY:
            return (
                f"{bot} has no current version: version {number} is held. Promote it first, on the "
                f"version's page or by POST /api/v1/bots/{bot}/versions/{number}/promote."
            )
        case _:
            why = f"version {number} is {last.state}. Upload another"
            return f"{bot} has no version that can play: {why}."
