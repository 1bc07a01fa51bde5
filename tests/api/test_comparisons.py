"""A/B tests over the API."""

import pytest
from django.contrib.auth.models import User

from league import bots, competitions
from league.models import Bot, BotVersion, Ladder, QualifyingMatch
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.bots.uploaded import FIRST, hosted_bot

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder() -> Ladder:
    made = small.ladder()
    for bot in small.bots(3):
        competitions.enter_ladder(ladder=made, bot=bot)
    return made


@pytest.fixture
def bot(ada: tuple[User, str]) -> Bot:
    made = hosted_bot(ada[0], "my-bot")
    for _ in range(2):
        version = bots.upload(bot=made, data=FIRST, held=True)
        BotVersion.objects.filter(pk=version.pk).update(state="ready")
    bots.promote(made.versions.get(number=1))
    return made


NEW = {"ladder": "quick", "new": 2, "old": 1, "promote": True}


def test_an_owner_starts_a_comparison_and_its_course_is_public(
    api: Api, ada: tuple[User, str], bot: Bot, ladder: Ladder
) -> None:
    made = api.post("bots/my-bot/comparisons", NEW, token=ada[1])
    assert made.status_code == 201
    competitions.advance_comparison(made.json()["id"])
    shown = api.get(f"comparisons/{made.json()['id']}").json()
    assert (shown["state"], shown["verdict"], shown["path"]) == ("running", "", [])
    assert shown["upper"] == pytest.approx(2.944, abs=0.001)
    assert shown["lower"] == -shown["upper"]
    listed = api.get("bots/my-bot/comparisons").json()["results"]
    assert [row["id"] for row in listed] == [shown["id"]]
    again = api.post("bots/my-bot/comparisons", NEW, token=ada[1])
    assert_problem(again, 409, "comparison-running")
    ended = api.post(f"comparisons/{shown['id']}/cancel", token=ada[1])
    assert ended.json()["state"] == "cancelled"


def test_a_version_that_could_not_take_over_or_play_is_refused_with_the_reason(
    api: Api, ada: tuple[User, str], bot: Bot, ladder: Ladder
) -> None:
    bots.promote(bot.versions.get(number=2))
    refused = api.post("bots/my-bot/comparisons", {**NEW, "new": 1, "old": 2}, token=ada[1])
    assert refused.status_code == 201
    api.post(f"comparisons/{refused.json()['id']}/cancel", token=ada[1])
    refused = api.post("bots/my-bot/comparisons", NEW, token=ada[1])
    problem = assert_problem(refused, 400, "invalid")
    assert fields_of(problem) == {"promote"}
    assert "the current version, which is 2, not 1" in problem["errors"][0]["message"]
    QualifyingMatch.objects.create(
        version=bot.versions.get(number=1), game=ladder.game, passed=False, reason="timeout"
    )
    refused = api.post("bots/my-bot/comparisons", {**NEW, "promote": False}, token=ada[1])
    problem = assert_problem(refused, 409, "not-qualified")
    assert "my-bot v1 failed its check for twelve-days: timeout" in problem["detail"]


def test_only_the_owner_starts_and_cancels_a_comparison(
    api: Api, ada: tuple[User, str], eve: tuple[User, str], bot: Bot, ladder: Ladder
) -> None:
    assert_problem(api.post("bots/my-bot/comparisons", NEW, token=eve[1]), 403, "not-your-bot")
    made = api.post("bots/my-bot/comparisons", NEW, token=ada[1]).json()
    assert_problem(api.post(f"comparisons/{made['id']}/cancel", token=eve[1]), 403, "not-your-bot")


def test_an_owner_promotes_a_version_that_is_ready(
    api: Api, ada: tuple[User, str], bot: Bot
) -> None:
    path = "bots/my-bot/versions/2/promote"
    assert api.post(path, token=ada[1]).status_code == 200
    assert api.get("bots/my-bot").json()["version"] == 2
    BotVersion.objects.update(state="refused")
    assert_problem(api.post(path, token=ada[1]), 409, "not-ready")
