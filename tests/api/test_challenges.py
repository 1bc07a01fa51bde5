"""Challenges over the API."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from league import bots
from league.models import Bot, Challenge
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small

pytestmark = pytest.mark.django_db
NEW = {"bot": "ada-0", "opponents": ["bot-0", "bot-1"]}


@pytest.fixture
def mine(ada: tuple[User, str]) -> Bot:
    """A hosted bot of Ada's beside three house bots and a ladder for three."""
    small.ladder()
    small.bots(3)
    return small.bots(1, owner=ada[0], prefix="ada")[0]


def test_a_challenge_is_played_and_shows_its_result_to_everybody(
    api: Api, ada: tuple[User, str], mine: Bot
) -> None:
    made = api.post("challenges", NEW, token=ada[1])
    assert made.status_code == 201
    assert made["Location"] == f"/api/v1/challenges/{made.json()['id']}"
    shown = api.get(made["Location"]).json()
    assert (shown["state"], shown["win_share"], shown["results"]) == ("waiting", None, [])
    assert [seat["bot"] for seat in shown["bots"]] == ["ada-0", "bot-0", "bot-1"]
    small.play_due()
    shown = api.get(made["Location"]).json()
    assert (shown["state"], shown["matches_finished"]) == ("finished", 3)
    assert [pair["opponent"] for pair in shown["results"]] == ["bot-0", "bot-1"]
    assert 0 <= shown["win_share"] <= 1
    assert {match["challenge"] for match in shown["matches"]} == {shown["id"]}
    assert all(match["deal_seed"] and match["ladder"] is None for match in shown["matches"])
    listed = api.get("challenges?bot=bot-1").json()["results"]
    assert [row["id"] for row in listed] == [shown["id"]]
    assert api.get("challenges?bot=bot-2").json()["results"] == []


def test_a_repeated_request_with_a_key_starts_one_challenge(
    api: Api, ada: tuple[User, str], mine: Bot
) -> None:
    first, second = (
        api.post("challenges", NEW, token=ada[1], **{"Idempotency-Key": "k"}) for _ in range(2)
    )
    assert first.json() == second.json()
    assert Challenge.objects.count() == 1


def test_refusals_have_codes_with_a_remedy(
    api: Api, ada: tuple[User, str], eve: tuple[User, str], mine: Bot
) -> None:
    assert_problem(api.post("challenges", NEW), 401, "not-authenticated")
    assert_problem(api.post("challenges", NEW, token=eve[1]), 403, "not-your-bot")
    short = {**NEW, "opponents": ["bot-0"], "game": "twelve-days"}
    problem = assert_problem(api.post("challenges", short, token=ada[1]), 400, "invalid")
    assert fields_of(problem) == {"opponents"}
    bots.create_bot(owner=eve[0], name="far-away", kind="remote")
    away = {**NEW, "opponents": ["bot-0", "far-away"]}
    problem = assert_problem(api.post("challenges", away, token=ada[1]), 409, "bot-offline")
    assert "twelfth-night run" in problem["detail"]
    Bot.objects.filter(name="far-away").update(seen_at=timezone.now())
    api.call("PATCH", "bots/far-away", {"challenges_from": "nobody"}, token=eve[1])
    assert_problem(api.post("challenges", away, token=ada[1]), 409, "challenges-refused")
    settings = {"challenges_from": "anyone", "max_challenges_per_day": 1}
    changed = api.call("PATCH", "bots/far-away", settings, token=eve[1]).json()
    assert {name: changed[name] for name in settings} == settings
    assert api.post("challenges", away, token=ada[1]).status_code == 201
    answer = api.post("challenges", away, token=ada[1])
    assert_problem(answer, 429, "too-many-challenges")
    assert 0 < int(answer["Retry-After"]) <= 24 * 3600


@pytest.mark.parametrize("wrong", [{"challenges_from": "friends"}, {"max_challenges_per_day": 0}])
def test_wrong_settings_are_refused(
    api: Api, ada: tuple[User, str], mine: Bot, wrong: dict[str, object]
) -> None:
    answer = api.call("PATCH", "bots/ada-0", wrong, token=ada[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == set(wrong)


def test_a_challenge_takes_few_queries(
    api: Api,
    ada: tuple[User, str],
    mine: Bot,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    made = api.post("challenges", NEW, token=ada[1])
    small.play_due()
    with django_assert_max_num_queries(11):
        api.get(made["Location"])
