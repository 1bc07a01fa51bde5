"""House bots to play against."""

from bots_sdk.reference import HOUSE
from league.models import Bot, BotVersion


def house_bots() -> None:
    """Store the house bots of every league."""
    for name in HOUSE:
        bot = Bot.objects.create(name=name, kind=Bot.Kind.HOUSE)
        bot.current = BotVersion.objects.create(bot=bot, number=1)
        bot.save(update_fields=["current"])
