"""Bots whose only uploads were refused: none is left behind."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from league import bots, competitions
from league.competitions.deletions import REASONS_KEPT
from league.models import Bot, BotVersion, QualifyingMatch
from tests.league.bots.uploaded import FIRST, RAISES, hosted_bot, owner, ready_bot

pytestmark = pytest.mark.django_db


def refused_bot(checked_at: datetime) -> Bot:
    """Store a bot whose first upload was checked and refused."""
    bot = hosted_bot(owner())
    version = bots.upload(bot=bot, data=RAISES)
    QualifyingMatch.objects.create(version=version, game="partridge", passed=False)
    QualifyingMatch.objects.update(played_at=checked_at)
    BotVersion.objects.filter(pk=version.pk).update(
        state=BotVersion.State.REFUSED, reason="crash", created_at=checked_at
    )
    return bot


def long_ago() -> datetime:
    return timezone.now() - REASONS_KEPT - timedelta(seconds=1)


def test_a_bot_whose_first_upload_was_refused_is_deleted_after_an_hour() -> None:
    bot = refused_bot(long_ago())
    assert competitions.delete_refused_bots() == 1
    assert not Bot.objects.filter(pk=bot.pk).exists()
    assert hosted_bot(owner(), bot.name).name == bot.name


def test_until_then_its_owner_can_read_the_reason() -> None:
    refused_bot(timezone.now() - REASONS_KEPT / 2)
    assert competitions.delete_refused_bots() == 0
    assert BotVersion.objects.get().reason == "crash"


def test_a_check_that_waited_for_long_counts_from_its_end() -> None:
    refused_bot(long_ago())
    QualifyingMatch.objects.update(played_at=timezone.now())
    assert competitions.delete_refused_bots() == 0


def test_a_bot_with_another_upload_or_without_any_stays() -> None:
    bots.upload(bot=refused_bot(long_ago()), data=FIRST)
    hosted_bot(owner())
    played = ready_bot(owner())
    BotVersion.objects.filter(bot=played).update(created_at=long_ago())
    assert competitions.delete_refused_bots() == 0
    assert Bot.objects.count() == 3


def test_a_bot_whose_only_upload_was_withdrawn_is_deleted_after_an_hour() -> None:
    withdrawn = bots.upload(bot=hosted_bot(owner()), data=FIRST)
    bots.withdraw_version(withdrawn)
    assert competitions.delete_refused_bots() == 0
    BotVersion.objects.filter(pk=withdrawn.pk).update(created_at=long_ago())
    assert competitions.delete_refused_bots() == 1
    assert not Bot.objects.exists()


def test_a_withdrawn_upload_does_not_delete_a_bot_that_plays() -> None:
    played = ready_bot(owner())
    bots.withdraw_version(bots.upload(bot=played, data=FIRST))
    BotVersion.objects.update(created_at=long_ago())
    assert competitions.delete_refused_bots() == 0
