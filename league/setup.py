"""A new league: its ladders, house bots and first tournaments."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from bots_sdk.arena.matches import LADDER_RULES
from bots_sdk.reference import HOUSE
from league.bots import bot_problems
from league.competitions import (
    announce_tournament,
    check_ladder,
    check_schedule,
    enter_ladder,
    store_schedule,
)
from league.models import Bot, BotVersion, Ladder, Schedule, Tournament
from league.models.settings_problems import require_valid, values_of

LADDERS = [
    ("twelve-days", "12 Days", "twelve-days", LADDER_RULES["twelve-days"], 4),
    ("partridge", "12 Days of Christmas", "partridge", LADDER_RULES["partridge"], 4),
]
ANCHOR = "house-thumb"
"""A house bot of middling strength: the zero point of performance."""
FIRST_START = timedelta(seconds=5)


def set_up_league() -> None:
    """Create ladders, house bots and tournaments that are missing; change nothing that exists."""
    with transaction.atomic():
        for slug, title, game, rules, seats in LADDERS:
            if not Ladder.objects.filter(slug=slug).exists():
                ladder = Ladder(slug=slug, title=title, game=game, rules=rules, seats=seats)
                check_ladder(ladder)
                ladder.save()
        for name in settings.HOUSE_BOTS:
            bot = Bot.objects.filter(name=name).first()
            if bot is None:
                bot = Bot(name=name, kind=Bot.Kind.HOUSE, description=HOUSE[name])
                require_valid(bot_problems(values_of(bot)))
                bot.save()
            if bot.current is None:
                bot.current = BotVersion.objects.create(bot=bot, number=1, note="as shipped")
                bot.save(update_fields=["current"])
                for ladder in Ladder.objects.all():
                    enter_ladder(ladder=ladder, bot=bot)
        for ladder in Ladder.objects.filter(anchor=None):
            ladder.anchor = Bot.objects.filter(name=ANCHOR, ladder_entries__ladder=ladder).first()
            ladder.save(update_fields=["anchor"])
        if not Tournament.objects.exists():
            now = timezone.now()
            for ladder in Ladder.objects.all():
                announce_tournament(
                    title=f"{ladder.title}: opening tournament",
                    ladder=ladder,
                    starts_at=now + FIRST_START,
                )
                schedule = Schedule(
                    title=f"{ladder.title}, hourly",
                    ladder=ladder,
                    every_hours=1,
                    first_at=now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1),
                )
                check_schedule(schedule)
                store_schedule(schedule)
