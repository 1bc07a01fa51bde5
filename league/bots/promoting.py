"""A bot's current version, the one that plays: when a version becomes current."""

from django.core.exceptions import ValidationError
from django.db import transaction

from league.bots.games_played import games_entered, require_qualified
from league.bots.retiring import lock_active
from league.models import Bot, BotVersion, Standing


def takes_over(version: BotVersion, current: BotVersion | None) -> bool:
    """Return whether a version becomes current once it has passed its check."""
    return current is None or (current.number < version.number and not version.held)


def make_current(bot: Bot, version: BotVersion) -> None:
    """Make a ready version the current one; call it with the bot's lock held."""
    bot.current = version
    bot.save(update_fields=["current"])
    Standing.objects.filter(bot=bot).begin_version(version.number)


def promote(version: BotVersion, *, instead_of: BotVersion | None = None) -> bool:
    """Make a ready version the current one; open matches go on with the old version.

    Args:
        version: to promote.
        instead_of: do nothing unless this version is current, and `version` plays the games that
            the bot has entered; None: promote or raise.

    Returns:
        Whether the version is current now.

    Raises:
        ValidationError: it is not ready (code ``not-ready``), it does not play the game of a ladder
            or tournament that the bot is in (code ``not-qualified``), or the bot was deleted (code
            ``bot-retired``).
    """
    with transaction.atomic():
        bot = lock_active(version.bot_id)
        if instead_of is not None and bot.current_id != instead_of.pk:
            return False
        version.refresh_from_db()
        if version.state != BotVersion.State.READY:
            raise ValidationError(why_not_ready(version), code="not-ready")
        if bot.current_id == version.pk:
            return True
        try:
            require_games_entered(bot, version)
        except ValidationError:
            if instead_of is not None:
                return False
            raise
        make_current(bot, version)
    return True


def require_games_entered(bot: Bot, version: BotVersion) -> None:
    """Raise unless a version plays the games of the ladders and tournaments that its bot is in.

    The check refuses an upload that fails this. An older or a held version was checked for the
    games that the bot had entered at that time.

    Raises:
        ValidationError: with code ``not-qualified``.
    """
    for game in sorted(games_entered(bot)):
        try:
            require_qualified(bot, game, version)
        except ValidationError as error:
            raise ValidationError(
                f"{bot} is on a ladder or in a tournament of {game}. {error.messages[0]} Or "
                f"withdraw {bot} from there.",
                code="not-qualified",
            ) from None


def why_not_ready(version: BotVersion) -> str:
    """Return why a version that is not ready can't be chosen, and what to do."""
    if version.state == BotVersion.State.CHECKING:
        return f"Version {version.number} is still being checked; wait, or choose a ready version."
    return f"Version {version.number} was refused; choose a ready version."
