"""A bot is deleted or compared while it enters a ladder or a tournament."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from league import bots, competitions
from league.competitions import deletions, ladder_entries
from league.models import Bot, BotVersion, Ladder, Tournament
from tests.league import small
from tests.league.at_once import SECONDS, in_thread, until_one_waits
from tests.league.bots.uploaded import FIRST, owner, ready_bot

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


def test_a_bot_enters_a_ladder_while_a_comparison_of_it_begins() -> None:
    ladder = small.ladder()
    for each in small.bots(3):
        competitions.enter_ladder(ladder=ladder, bot=each)
    bot = ready_bot(owner())
    bots.upload(bot=bot, data=FIRST, held=True)
    bot.versions.update(state="ready")
    with transaction.atomic():
        Ladder.objects.select_for_update().get()  # the first step of entering
        begun = in_thread(lambda: competitions.compare(bot=bot, ladder=ladder, new=2, old=1))
        until_one_waits()
        competitions.enter_ladder(ladder=ladder, bot=bot)
    assert begun.result(SECONDS).bot == bot
    assert ladder.entries.filter(bot=bot).exists()


def test_a_deletion_and_a_promotion_at_once_end_without_a_deadlock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot, ladder, enter = prepared("ladder")
    enter()
    ladder.standings.create(bot=bot, rating=1_500_000, blocks=1, version=1)
    fresh = BotVersion.objects.create(bot=bot, number=2, state="ready")
    promotions: list[Future[bool]] = []
    leave = ladder_entries.leave_for_good

    def late(**of: Any) -> None:
        leave(**of)
        promotions.append(in_thread(lambda: bots.promote(fresh)))
        until_one_waits()

    monkeypatch.setattr(deletions, "leave_for_good", late)
    competitions.delete_bot(bot)
    with pytest.raises(ValidationError, match="deleted"):
        promotions[0].result(SECONDS)


@pytest.mark.parametrize("begun", [False, True])
def test_a_deleted_bot_does_not_come_back_with_a_cancelled_tournament(begun: bool) -> None:
    bot, tournament, enter = prepared("tournament")
    small.bots(3)
    enter()
    if begun:
        Tournament.objects.update(starts_at=timezone.now(), open_seconds=3600)
        competitions.advance_tournament(tournament.pk)
    competitions.cancel_tournament(tournament=tournament)
    assert competitions.delete_bot(bot) == begun  # retired only if it has played
    competitions.restore_tournament(tournament=tournament)
    states = tournament.entries.filter(bot=bot.pk).values_list("state", flat=True)
    assert list(states) == (["withdrawn"] if begun else [])
