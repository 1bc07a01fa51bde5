"""A ladder of house bots, and bots that enter it."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from league import competitions
from league.models import Bot, Ladder
from tests.league import small


@pytest.fixture
def ladder() -> Ladder:
    """A ladder of four house bots."""
    ladder = small.ladder()
    for bot in small.bots(4):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    return ladder


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create(username="ada")


def enter(ladder: Ladder, owner: User, prefix: str = "ada", count: int = 1) -> list[Bot]:
    bots = small.bots(count, owner=owner, prefix=prefix)
    for bot in bots:
        competitions.enter_ladder(ladder=ladder, bot=bot)
    return bots


def remote(bot: Bot, *, silent_for: float = 0) -> None:
    seen_at = timezone.now() - timedelta(seconds=silent_for)
    Bot.objects.filter(pk=bot.pk).update(kind=Bot.Kind.REMOTE, seen_at=seen_at)
