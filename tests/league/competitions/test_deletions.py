"""A bot is deleted while it enters a ladder or a tournament."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from league import competitions
from league.models import Bot, Tournament
from tests.league import small
from tests.league.at_once import SECONDS, in_thread, until_one_waits

pytestmark = pytest.mark.django_db(transaction=True)
PLACES = ["ladder", "tournament"]


def prepared(place: str) -> tuple[Bot, Any, Callable[[], object]]:
    """Return a bot, a ladder or tournament, and the call by which the bot enters it."""
    [bot] = small.bots(1, owner=User.objects.create(username="ada"), prefix="swan")
    same = Bot.objects.get(pk=bot.pk)  # as another request has read it
    ladder = small.ladder()
    if place == "ladder":
        return bot, ladder, lambda: competitions.enter_ladder(ladder=ladder, bot=same)
    tournament = small.tournament(ladder)
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=1))
    tournament.refresh_from_db()
    return bot, tournament, lambda: competitions.enter(tournament=tournament, bot=same)


@pytest.mark.parametrize("place", PLACES)
def test_a_bot_that_enters_while_it_is_deleted_leaves_again(place: str) -> None:
    bot, entered, enter = prepared(place)
    with transaction.atomic():
        enter()
        deletion = in_thread(lambda: competitions.delete_bot(bot))
        until_one_waits()
    deletion.result(SECONDS)
    assert not entered.entries.exists()
    assert not Bot.objects.active().filter(pk=bot.pk).exists()


@pytest.mark.parametrize("place", PLACES)
def test_a_bot_that_is_deleted_while_it_enters_is_refused(place: str) -> None:
    bot, entered, enter = prepared(place)
    with transaction.atomic():
        competitions.delete_bot(bot)
        entry = in_thread(enter)
        until_one_waits()
    with pytest.raises(ValidationError) as caught:
        entry.result(SECONDS)
    assert caught.value.code == "bot-retired"
    assert not entered.entries.exists()
