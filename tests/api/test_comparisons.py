"""A/B tests over the API."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league import bots, competitions
from league.models import Bot, BotVersion, Ladder, QualifyingMatch, SwapBlock
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
    assert (shown["blocks"], shown["blocks_with_different_results"], shown["estimate"]) == (
        0,
        0,
        None,
    )
    listed = api.get("bots/my-bot/comparisons").json()["results"]
    assert [row["id"] for row in listed] == [shown["id"]]
    again = api.post("bots/my-bot/comparisons", NEW, token=ada[1])
    assert_problem(again, 409, "comparison-running")
    ended = api.post(f"comparisons/{shown['id']}/cancel", token=ada[1])
    assert ended.json()["state"] == "cancelled"


def test_a_comparison_shows_its_gain_and_in_how_many_blocks_the_results_differed(
    api: Api, client: Client, bot: Bot, ladder: Ladder
) -> None:
    comparison = competitions.compare(bot=bot, ladder=ladder, new=2, old=1)
    for number, (difference, same_moves) in enumerate(
        [(0.5, False), (0.0, True), (0.25, False), (0.0, False), (None, None), (1.0, False)]
    ):
        SwapBlock.objects.create(
            comparison=comparison, number=number, difference=difference, same_moves=same_moves
        )
    shown = api.get(f"comparisons/{comparison.pk}").json()
    assert (shown["blocks"], shown["blocks_with_different_results"]) == (4, 2)
    estimate = shown["estimate"]
    # Elo: 0.1875 / (ln 10 / 1600 x 3 / 2), at a table of three
    assert estimate["elo"] == pytest.approx(86.86, abs=0.01)
    assert estimate["low"] < 0 < estimate["elo"] < estimate["high"]
    assert 0.8 < estimate["superiority"] < 1
    assert len(shown["path"]) == 4
    page = " ".join(client.get(f"/comparisons/{comparison.pk}/").content.decode().split())
    assert "<dt>Results differ in</dt><dd>2 of 4 blocks" in page
    assert "<h1>No verdict yet</h1>" in page
    assert '<progress max="1" value="0.12"' in page  # 2 of 16
    rows = re.findall(r'<td>(\d+)</td> <td class="number">(.*?)</td>', page)
    assert rows == [("2", "+25 %"), ("0", "+50 %")]
    assert "<dd> +87 Elo <small" in page
    superiority = round(100 * estimate["superiority"])
    assert f"<dt>Likelihood of superiority</dt><dd>{superiority} %</dd>" in page


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
