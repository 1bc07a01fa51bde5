"""Two calls on a bot at the same moment."""

from concurrent.futures import Future

import pytest

from league import bots, competitions
from league.models import Bot, Match
from league.play.unrated_matches import invite
from tests.league.at_once import SECONDS, in_thread, until_one_waits
from tests.league.bots.uploaded import owner, ready_bot
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
    assert opening[0].exception(SECONDS) is not None  # the deletion came first
