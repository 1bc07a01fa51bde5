"""Promoting: which versions of a bot may become current."""

import pytest
from django.core.exceptions import ValidationError

from league import bots, competitions
from league.models import Bot, BotVersion
from tests.league import small
from tests.league.bots.uploaded import FIRST, hosted_bot, owner

pytestmark = pytest.mark.django_db(transaction=True)


def checked(bot: Bot, declared: str, *, held: bool = False) -> BotVersion:
    source = f"GAMES = {declared}\n".encode() + FIRST
    version = bots.upload(bot=bot, data=source, held=held)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "ready"
    return version


@pytest.mark.parametrize("held", [False, True])
def test_a_version_that_does_not_play_the_game_of_a_ladder_is_not_promoted(held: bool) -> None:
    bot, ladder = hosted_bot(owner()), small.ladder(seats=2)
    if held:  # at its check the bot was on no ladder
        both = checked(bot, "['partridge', 'twelve-days']")
        other = checked(bot, "['twelve-days']", held=True)
    else:
        other = checked(bot, "['twelve-days']")
        both = checked(bot, "['twelve-days', 'partridge']")
    bot.refresh_from_db()
    competitions.enter_ladder(ladder=ladder, bot=bot)
    with pytest.raises(ValidationError, match="tournament of partridge") as caught:
        bots.promote(other)
    assert caught.value.code == "not-qualified"
    assert bots.promote(other, instead_of=both) is False
    bot.refresh_from_db()
    assert bot.current == both
    competitions.leave_ladder(ladder=ladder, bot=bot)
    assert bots.promote(other)


def test_a_version_must_play_the_game_of_a_tournament_that_is_not_over() -> None:
    bot = hosted_bot(owner())
    both = checked(bot, "['partridge', 'twelve-days']")
    bot.refresh_from_db()
    cup = small.tournament(small.ladder(seats=2))
    competitions.enter(tournament=cup, bot=bot, by_organiser=True)
    version = bots.upload(bot=bot, data=b"GAMES = ['twelve-days']\n" + FIRST)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "refused"
    assert version.reason.startswith("partridge: ")
    assert "or in a tournament of this game" in version.reason
    bot.refresh_from_db()
    assert bot.current == both
    competitions.withdraw(tournament=cup, bot=bot, by_organiser=True)
    checked(bot, "['twelve-days']")


@pytest.mark.parametrize("place", ["ladder", "tournament"])
def test_a_bot_does_not_enter_with_a_version_that_is_current_no_more(place: str) -> None:
    bot, ladder = hosted_bot(owner()), small.ladder(seats=2)
    checked(bot, "['partridge', 'twelve-days']")
    before = Bot.objects.get(pk=bot.pk)  # as a request to enter it has read it
    checked(bot, "['twelve-days']")
    cup = small.tournament(ladder)
    enter = {
        "ladder": lambda: competitions.enter_ladder(ladder=ladder, bot=before),
        "tournament": lambda: competitions.enter(tournament=cup, bot=before, by_organiser=True),
    }
    with pytest.raises(ValidationError) as caught:
        enter[place]()
    assert caught.value.code == "not-qualified"
