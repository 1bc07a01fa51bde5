"""Uploaded bots to test with."""

import itertools

from django.contrib.auth.models import User

from league import bots
from league.models import Bot, BotVersion

FIRST = b'def choose(observation):\n    return observation["legal_moves"][0]\n'
LOUD = (
    b"seen = 0\n"
    b"def start(info):\n    print('seat', info['seat'])\n"
    b"def choose(observation):\n"
    b"    global seen\n    seen += 1\n    print('asked', seen)\n"
    b'    return observation["legal_moves"][-1]\n'
)
RAISES = b"def choose(observation):\n    print('about to')\n    raise KeyError('gold')\n"
_numbers = itertools.count()


def owner() -> User:
    """Store an owner."""
    return User.objects.create(username=f"uploader-{next(_numbers)}")


def hosted_bot(of: User, name: str = "") -> Bot:
    """Store a hosted bot without a version."""
    return bots.create_bot(owner=of, name=name or f"hosted-{next(_numbers)}", kind=Bot.Kind.HOSTED)[
        0
    ]


def ready_bot(of: User, source: bytes = FIRST) -> Bot:
    """Store a hosted bot whose version plays, as if it had qualified."""
    bot = hosted_bot(of)
    version = bots.upload(bot=bot, data=source)
    version.state = BotVersion.State.READY
    version.save()
    bot.current = version
    bot.save()
    return bot
