"""Whether a bot can play now: for one bot, and in queries over many bots."""

from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from league import bots
from league.bots import Obstacle
from league.models import Bot, BotVersion
from league.moderation import quarantine_account, quarantine_bot

pytestmark = pytest.mark.django_db


def test_a_query_keeps_exactly_the_bots_without_an_obstacle() -> None:
    now = timezone.now()
    ada, eve = User.objects.create_user("ada"), User.objects.create_user("eve")
    quarantine_account(account=eve, reason="many bots")
    cases = product([False, True], repeat=7)
    for number, (remote, of_eve, held, paused, retired, versionless, quiet) in enumerate(cases):
        bot = Bot.objects.create(
            name=f"bot-{number}",
            kind=Bot.Kind.REMOTE if remote else Bot.Kind.HOSTED,
            owner=eve if of_eve else ada,
            paused=paused,
            retired_at=now if retired else None,
            seen_at=now - timedelta(seconds=90 if quiet else 5),
        )
        if not versionless:
            bot.current = BotVersion.objects.create(bot=bot, number=1)
            bot.save()
        if held:
            quarantine_bot(bot=bot, reason="a look at its moves")
        wanted = {
            Obstacle.RETIRED: retired,
            Obstacle.QUARANTINED: held or of_eve,
            Obstacle.PAUSED: paused,
            Obstacle.NO_VERSION: versionless,
            Obstacle.OFFLINE: quiet and remote,
        }
        assert list(bots.obstacles(bot)) == [each for each, holds in wanted.items() if holds]
    able = {bot.name for bot in Bot.objects.playable().online()}
    assert able == {bot.name for bot in Bot.objects.all() if not list(bots.obstacles(bot))}
    assert len(able) == 3


def test_a_refusal_names_the_first_obstacle_that_is_not_allowed() -> None:
    bot = Bot.objects.create(name="swan", kind="hosted", owner=User.objects.create_user("ada"))
    bots.change_bot(bot, paused=True)
    with pytest.raises(ValidationError) as refused:
        bots.require_playable(bot)
    assert refused.value.code == "bot-paused"
    with pytest.raises(ValidationError) as refused:
        bots.require_playable(bot, despite={Obstacle.PAUSED})
    assert refused.value.messages == [
        "swan has no version yet. Upload one first (POST /api/v1/bots/swan/versions)."
    ]
    bots.require_playable(bot, despite={Obstacle.PAUSED, Obstacle.NO_VERSION})


def test_a_remote_bot_is_online_for_a_minute_after_it_called() -> None:
    bot, _ = bots.create_bot(owner=User.objects.create_user("ada"), name="bot", kind="remote")
    now = timezone.now()
    assert not bots.is_online(bot, now)
    bot.seen_at = now
    assert bots.is_online(bot, now + timedelta(seconds=60))
    assert not bots.is_online(bot, now + timedelta(seconds=61))
