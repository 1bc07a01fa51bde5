"""An account may make so many bots and upload so many versions in 24 hours."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django import Settings

from league import bots
from league.bots.daily_limits import require_another_bot, require_another_version
from league.models import Bot, BotVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(settings: Settings) -> User:
    settings.MAX_BOTS_PER_DAY = settings.MAX_UPLOADS_PER_DAY = 2
    return User.objects.create_user("ada")


def test_one_bot_too_many_is_refused_until_the_first_is_a_day_old(ada: User) -> None:
    for name in ("one", "two"):
        bots.create_bot(owner=ada, name=f"bot-{name}", kind="remote")
    with pytest.raises(ValidationError) as refused:
        bots.create_bot(owner=ada, name="bot-three", kind="remote")
    assert refused.value.code == "too-many-bots"
    assert refused.value.messages[0].startswith("An account may have 2 new bots in 24 hours.")
    assert 86_300 < (refused.value.params or {})["retry_seconds"] <= 86_400
    bots.create_bot(owner=User.objects.create_user("eve"), name="bot-eve", kind="remote")
    Bot.objects.filter(name="bot-one").update(created_at=timezone.now() - timedelta(hours=25))
    require_another_bot(ada, timezone.now())


def test_one_upload_too_many_is_refused_for_all_bots_of_the_owner(ada: User) -> None:
    first, second = (
        bots.create_bot(owner=ada, name=f"bot-{name}", kind="hosted")[0] for name in ("one", "two")
    )
    for number, bot in enumerate((first, second), 1):
        BotVersion.objects.create(bot=bot, number=number)
    with pytest.raises(ValidationError) as refused:
        bots.upload(bot=first, data=b"def choose(observation): ...")
    assert refused.value.code == "too-many-versions"
    BotVersion.objects.filter(bot=first).update(created_at=timezone.now() - timedelta(hours=25))
    require_another_version(first, timezone.now())
