"""Unrated matches that a bot's owner asks for."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from engine.errors import UnknownRulesError
from league.models import Bot, Match, MatchSeat
from league.play.opening import open_unrated_match

MAX_OPEN = 50
"""Unrated matches with bots of one owner that wait or are played at a time."""


def invite(*, owner: User, game: str, rules: str, bots: Sequence[str]) -> Match:
    """Store an unrated match, waiting to be played, between an owner's bots and those of the house.

    Args:
        owner: who asks.
        game: slug of the game.
        rules: name of the preset.
        bots: names, by seat.

    Raises:
        ValidationError: by field: no such game, preset or bot, a number of seats that the preset
            doesn't take, a bot twice, or none of the owner's; or with a code: somebody else's bot
            (``not-your-bot``), one that can't play (``no-version``), or ``too-many-matches``.
    """
    found = {
        bot.name: bot for bot in Bot.objects.filter(name__in=bots).select_related("current__bot")
    }
    for name in bots:
        if name not in found:
            raise ValidationError({"bots": f"There is no bot {name}."})
        bot = found[name]
        if bot.owner_id != owner.pk and bot.kind != Bot.Kind.HOUSE:
            raise ValidationError(f"{name} belongs to somebody else.", code="not-your-bot")
        if bot.current is None:
            raise ValidationError(f"{name} has no version that may play yet.", code="no-version")
    if all(bot.kind == Bot.Kind.HOUSE for bot in found.values()):
        raise ValidationError({"bots": "One of them must be yours."})
    _check_room(owner)
    versions = [found[name].current for name in bots]
    try:
        return open_unrated_match(
            game=game, rules=rules, versions=[version for version in versions if version]
        )
    except UnknownRulesError as error:
        raise ValidationError({"rules": str(error)}) from None
    except ValueError:
        raise ValidationError({"bots": "A bot has one seat in a match."}) from None


def _check_room(owner: User) -> None:
    unfinished = MatchSeat.objects.filter(
        bot__owner=owner, match__block=None, match__status__in=["waiting", "playing"]
    )
    if unfinished.values("match").distinct().count() >= MAX_OPEN:
        raise ValidationError(
            f"{MAX_OPEN} unrated matches of yours are not finished yet.", code="too-many-matches"
        )
