"""The games that a version of a bot can play, by its check, and the games that it must play."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from engine.games import catalogue
from league.models import Bot, BotVersion, QualifyingMatch, Tournament, TournamentEntry


def require_qualified(bot: Bot, game: str, version: BotVersion | None = None) -> None:
    """Raise if a bot did not qualify for a game.

    Args:
        bot: to enter.
        game: its name.
        version: of the bot; None: the current version.

    Raises:
        ValidationError: the version failed to qualify for it, or does not declare it (code
            ``not-qualified``).
    """
    wanted = bot.current_id if version is None else version.pk
    matches = {match.game: match for match in QualifyingMatch.objects.filter(version=wanted)}
    if game in matches and not matches[game].passed:
        raise ValidationError(
            f"{version or bot} failed its check for {game}: {matches[game].reason}. "
            f"Upload a version that plays {game}.",
            code="not-qualified",
        )
    if matches and game not in matches:
        raise ValidationError(
            f"{version or bot} declares that it plays {', '.join(sorted(matches))}, not {game}. "
            f"If it can play {game}, add {game} to GAMES in its file, and upload it again.",
            code="not-qualified",
        )


def qualified_games(versions: Sequence[BotVersion]) -> dict[int, frozenset[str]]:
    """Return the games that `require_qualified` allows, by a version's number. Costs one query."""
    matches = QualifyingMatch.objects.filter(version__in=versions)
    games: dict[int, set[str]] = {}
    for version, game, passed in matches.values_list("version__number", "game", "passed"):
        games.setdefault(version, set()).update([game] if passed else [])
    return {
        version.number: frozenset(games.get(version.number, catalogue.GAMES))
        for version in versions
    }


def games_entered(bot: Bot) -> set[str]:
    """Return the games of a bot's ladders, and of its tournaments that are not over.

    Rounds draw the bot with its current version, which must play these games.
    """
    of_ladders = bot.ladder_entries.order_by().values_list("ladder__game", flat=True)
    entries = TournamentEntry.objects.filter(
        bot=bot,
        state=TournamentEntry.State.ENTERED,
        tournament__state__in=[*Tournament.NOT_STARTED, Tournament.State.RUNNING],
    )
    of_tournaments = entries.order_by().values_list("tournament__ladder__game", flat=True)
    return {*of_ladders, *of_tournaments}
