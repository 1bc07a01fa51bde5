"""The bots of players: one for each person at a table, so that a seat there is as any other."""

import re
import secrets
import string

from django.db import transaction

from league.accounts import new_bot_token
from league.models import Bot, BotVersion

_MAX_STEM = 20
_LETTERS = string.ascii_lowercase + string.digits


def create_player(nickname: str) -> tuple[Bot, str]:
    """Create the bot of a player; return it and the text of its play token.

    Args:
        nickname: its letters and digits begin the bot's name, which is unique.
    """
    stem = re.sub(r"[^a-z0-9]+", "-", nickname.lower()).strip("-")[:_MAX_STEM] or "guest"
    name = f"{stem}_{''.join(secrets.choice(_LETTERS) for _ in range(6))}"
    with transaction.atomic():
        bot = Bot.with_players.create(name=name, kind=Bot.Kind.PLAYER)
        bot.current = BotVersion.objects.create(bot=bot, number=1)
        bot.save(update_fields=["current"])
        return bot, new_bot_token(bot)


def remove_players(bot_ids: list[int]) -> None:
    """Delete the bots of players whose match has been deleted."""
    players = Bot.with_players.filter(pk__in=bot_ids, kind=Bot.Kind.PLAYER)
    with transaction.atomic():
        players.update(current=None)
        BotVersion.objects.filter(bot__in=players).delete()
        players.delete()
