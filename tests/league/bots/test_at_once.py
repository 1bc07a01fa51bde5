"""Two calls on a bot at the same moment."""

from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from league import bots, competitions, play
from league.bots import checks, retiring
from league.bots.daily_limits import note_deleted_checks
from league.models import Bot, BotSource, Match, QualifyingMatch
from league.play import unrated_matches
from league.play.unrated_matches import invite
from tests.league.at_once import SECONDS, in_thread, until_one_waits
from tests.league.bots.uploaded import FIRST, hosted_bot, owner, ready_bot
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)


def test_no_match_opens_with_a_bot_as_it_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    house_bots()
    ada = owner()
    bot = ready_bot(ada)
    names = [bot.name, "house-random", "house-thumb"]
    played = bots.has_played
    opening: list[Future[Match]] = []

    def slow(of: Bot) -> bool:
        found = played(of)
        opening.append(
            in_thread(lambda: invite(owner=ada, game="twelve-days", rules="calliope", bots=names))
        )
        until_one_waits()
        return found

    monkeypatch.setattr(bots, "has_played", slow)
    competitions.delete_bot(Bot.objects.get(pk=bot.pk))
    assert isinstance(opening[0].exception(SECONDS), ValidationError)  # there is no such bot now
    assert not Match.objects.exists()


def test_a_bot_that_is_deleted_as_its_match_opens_is_retired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house_bots()
    ada = owner()
    bot = ready_bot(ada)
    deletions: list[Future[bool]] = []
    open_match = play.open_unrated_match

    def slow(**options: Any) -> Match:
        deletions.append(in_thread(lambda: competitions.delete_bot(Bot.objects.get(pk=bot.pk))))
        until_one_waits()
        return open_match(**options)

    monkeypatch.setattr(unrated_matches, "open_unrated_match", slow)
    names = [bot.name, "house-random", "house-thumb"]
    match = invite(owner=ada, game="twelve-days", rules="calliope", bots=names)
    assert deletions[0].result(SECONDS)
    assert Bot.objects.filter(pk__in=match.bot_ids).count() == 3
    assert BotSource.objects.count() == 1  # the match needs it


def test_a_bot_that_is_deleted_as_its_table_starts_is_retired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house_bots()
    ada = owner()
    bot = ready_bot(ada)
    QualifyingMatch.objects.create(version=bot.versions.get(), game="twelve-days", passed=True)
    table, _ = competitions.open_table(
        game="twelve-days",
        rules="calliope",
        seats=3,
        waits=True,
        opponents=[bot.name],
        user=ada,
    )
    deletions: list[Future[bool]] = []
    open_match = play.open_player_match

    def slow(**options: Any) -> Match:
        deletions.append(in_thread(lambda: competitions.delete_bot(Bot.objects.get(pk=bot.pk))))
        until_one_waits()
        return open_match(**options)

    monkeypatch.setattr(play, "open_player_match", slow)
    match = competitions.start_table(table)
    assert deletions[0].result(SECONDS)
    assert bot.pk in match.bot_ids
    assert Bot.objects.filter(pk=bot.pk).exists()
    assert BotSource.objects.count() == 1


def test_a_check_that_ends_as_its_bot_is_deleted_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = hosted_bot(owner())
    version = bots.upload(bot=bot, data=FIRST)
    monkeypatch.setattr(bots, "has_played", lambda _: True)
    locked, go = Event(), Event()

    def slow(*of: Any) -> None:
        locked.set()
        assert go.wait(SECONDS)
        note_deleted_checks(*of)

    monkeypatch.setattr(retiring, "note_deleted_checks", slow)
    deletion = in_thread(lambda: competitions.delete_bot(Bot.objects.get(pk=bot.pk)))
    assert locked.wait(SECONDS)
    match = QualifyingMatch(version=version, game="partridge", passed=True)
    decision = in_thread(lambda: checks._decide(version.pk, [match]))
    until_one_waits()
    go.set()
    assert deletion.result(SECONDS)
    assert not decision.result(SECONDS)


def test_two_renames_at_once_keep_both_former_names() -> None:
    bot, _ = bots.create_bot(owner=owner(), name="first-name", kind=Bot.Kind.REMOTE)
    one, two = Bot.objects.get(pk=bot.pk), Bot.objects.get(pk=bot.pk)
    bots.change_bot(one, name="second-name")
    bots.change_bot(two, name="third-name")
    former = bot.former_names.order_by("pk").values_list("name", flat=True)
    assert list(former) == ["first-name", "second-name"]


def test_other_settings_saved_from_an_old_page_keep_the_new_name() -> None:
    bot, _ = bots.create_bot(owner=owner(), name="first-name", kind=Bot.Kind.REMOTE)
    one, two = Bot.objects.get(pk=bot.pk), Bot.objects.get(pk=bot.pk)
    bots.change_bot(one, name="second-name")
    bots.change_bot(two, description="good")
    bot.refresh_from_db()
    assert (bot.name, bot.description) == ("second-name", "good")
