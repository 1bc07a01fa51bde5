"""Which bots may enter a ladder."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from league import bots, competitions
from league.models import Bot, BotVersion
from tests.league import small
from tests.league.bots.uploaded import FIRST, hosted_bot

pytestmark = pytest.mark.django_db


def refusal(bot: Bot) -> ValidationError:
    ladder = small.ladder()
    with pytest.raises(ValidationError) as caught:
        competitions.enter_ladder(ladder=ladder, bot=Bot.objects.get(pk=bot.pk))
    assert not ladder.entries.exists()
    ladder.delete()
    return caught.value


def test_a_bot_that_cant_play_cant_enter_and_the_error_names_the_remedy() -> None:
    bot = hosted_bot(User.objects.create_user("ada"), "swan")
    error = refusal(bot)
    assert error.code == "no-version"
    assert error.messages == [
        "swan has no version yet. Upload one first (POST /api/v1/bots/swan/versions)."
    ]
    version = bots.upload(bot=bot, data=FIRST)
    assert "version 1 is still being checked" in refusal(bot).messages[0]
    bots.withdraw_version(version)
    assert "version 1 is refused" in refusal(bot).messages[0]
    BotVersion.objects.filter(pk=version.pk).update(state="ready")
    bots.promote(version)
    bots.change_bot(bot, paused=True)
    error = refusal(bot)
    assert error.code == "bot-paused"
    assert "twelfth-night bot resume swan" in error.messages[0]


def test_an_entry_stays_when_its_bot_is_paused_later() -> None:
    [bot] = small.bots(1, owner=User.objects.create_user("ada"))
    ladder = small.ladder()
    entry = competitions.enter_ladder(ladder=ladder, bot=bot)
    bots.change_bot(bot, paused=True)
    assert competitions.enter_ladder(ladder=ladder, bot=bot) == entry
