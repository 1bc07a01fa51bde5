"""Unrated matches, which a bot's owner starts."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from engine.errors import UnknownRulesError
from league.bots import Obstacle, require_playable, why_unknown
from league.models import Bot, Match
from league.play.opening import open_unrated_match

MAX_OPEN = 50
"""Unfinished unrated matches with bots of one owner."""


def invite(*, owner: User, game: str, rules: str, bots: Sequence[str]) -> Match:
    """Store an unrated match that waits, between an owner's bots and house bots.

    Args:
        owner: who starts the match.
        game: slug of the game.
        rules: name of the preset.
        bots: names of the bots, by seat.

    Raises:
        ValidationError: by field: the game, preset or bot does not exist, the preset does not take
            this number of seats, a bot has two seats, or no bot is the owner's. With a code:
            another owner's bot (``not-your-bot``), a bot that can't play (``no-version``), a
            bot in quarantine (``quarantined``), or ``too-many-matches``.
    """
    with transaction.atomic():
        list(Bot.objects.locked().filter(name__in=bots))
        found = {
            bot.name: bot
            for bot in Bot.objects.active().filter(name__in=bots).select_related("current__bot")
        }
        for name in bots:
            if name not in found:
                raise ValidationError({"bots": why_unknown(name)})
            bot = found[name]
            if bot.owner_id != owner.pk and bot.kind != Bot.Kind.HOUSE:
                raise ValidationError(
                    f"{name} belongs to another account; choose your bots and house bots.",
                    code="not-your-bot",
                )
            require_playable(bot, despite={Obstacle.PAUSED, Obstacle.OFFLINE})
        if all(bot.kind == Bot.Kind.HOUSE for bot in found.values()):
            raise ValidationError({"bots": "At least one of the bots must be yours."})
        _check_room(owner)
        versions = [found[name].current for name in bots]
        try:
            return open_unrated_match(
                game=game, rules=rules, versions=[version for version in versions if version]
            )
        except UnknownRulesError as error:
            raise ValidationError({"rules": str(error)}) from None
        except ValueError:
            raise ValidationError(
                {"bots": "Name each bot only once: a bot has one seat in a match."}
            ) from None


def _check_room(owner: User) -> None:
    own = list(owner.bots.values_list("pk", flat=True))
    if Match.objects.unfinished().alone().with_any_bot(own).count() >= MAX_OPEN:
        raise ValidationError(
            f"You have {MAX_OPEN} unfinished unrated matches, the maximum. Wait until one is over.",
            code="too-many-matches",
        )
