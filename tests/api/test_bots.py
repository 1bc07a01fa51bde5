"""Bots, their tokens and versions."""

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from league import accounts
from league.models import Bot
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small

pytestmark = pytest.mark.django_db


def test_a_remote_bot_comes_with_its_token_and_may_play(api: Api, ada: tuple[User, str]) -> None:
    made = api.post("bots", {"name": "my-bot", "kind": "remote"}, token=ada[1])
    assert made.status_code == 201
    bot = made.json()
    assert (bot["owner"], bot["version"], bot["online"]) == ("ada", 1, False)
    assert accounts.bot_for_token(bot["token"]).name == "my-bot"


def test_a_bot_needs_a_valid_name_and_a_kind(api: Api, ada: tuple[User, str]) -> None:
    answer = api.post("bots", {"name": "My Bot", "kind": "house"}, token=ada[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"name", "kind"}


def test_a_name_is_taken_once(api: Api, ada: tuple[User, str], eve: tuple[User, str]) -> None:
    api.post("bots", {"name": "my-bot", "kind": "remote"}, token=ada[1])
    answer = api.post("bots", {"name": "my-bot", "kind": "remote"}, token=eve[1])
    found = assert_problem(answer, 400, "invalid")
    assert "name" in fields_of(found)
    assert "taken by a bot of ada; choose another" in found["detail"]
    again = api.post("bots", {"name": "my-bot", "kind": "remote"}, token=ada[1])
    assert (
        "taken by your own remote bot; use that bot"
        in assert_problem(again, 400, "invalid")["detail"]
    )


def test_only_owner_tokens_manage(api: Api, bot: tuple[Bot, str]) -> None:
    new = {"name": "my-bot", "kind": "remote"}
    assert_problem(api.post("bots", new), 401, "not-authenticated")
    assert_problem(api.post("bots", new, token=bot[1]), 403, "owner-token-needed")
    answer = api.call("PATCH", "bots/ada-bot", {"paused": True}, token=bot[1])
    assert_problem(answer, 403, "owner-token-needed")


def test_a_bot_is_public_and_its_token_is_not(api: Api, bot: tuple[Bot, str]) -> None:
    shown = api.get("bots/ada-bot")
    assert shown.status_code == 200
    assert "token" not in shown.json()
    assert [row["name"] for row in api.get("bots").json()["results"]] == ["ada-bot"]


def test_an_owner_pauses_and_describes_a_bot(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    changes = {"paused": True, "description": "Plays low."}
    changed = api.call("PATCH", "bots/ada-bot", changes, token=ada[1])
    assert changed.status_code == 200
    assert changed.json().items() >= changes.items()
    resumed = api.call("PATCH", "bots/ada-bot", {"paused": False}, token=ada[1])
    assert resumed.json()["description"] == "Plays low."


def test_only_the_owner_changes_a_bot(
    api: Api, bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    answer = api.call("PATCH", "bots/ada-bot", {"paused": True}, token=eve[1])
    assert_problem(answer, 403, "not-your-bot")
    assert_problem(api.post("bots/ada-bot/token", token=eve[1]), 403, "not-your-bot")


def test_no_account_changes_a_house_bot(api: Api, ada: tuple[User, str]) -> None:
    small.bots(1, prefix="house")
    assert_problem(api.post("bots/house-0/token", token=ada[1]), 403, "not-your-bot")


def test_a_new_bot_token_replaces_the_old_one(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    made = api.post("bots/ada-bot/token", token=ada[1])
    assert made.status_code == 201
    assert_problem(api.get("games", token=bot[1]), 401, "invalid-token")
    assert api.get("games", token=made.json()["token"]).status_code == 200


def test_versions_are_listed_and_shown(api: Api, bot: tuple[Bot, str]) -> None:
    listed = api.get("bots/ada-bot/versions").json()["results"]
    assert [(row["number"], row["state"]) for row in listed] == [(1, "ready")]
    assert api.get("bots/ada-bot/versions/1").json() == listed[0]
    assert_problem(api.get("bots/ada-bot/versions/2"), 404, "not-found")


def test_games_come_with_presets_seats_and_options(api: Api) -> None:
    games = {row["game"]: row["presets"] for row in api.get("games").json()["results"]}
    assert set(games) == {"twelve-days", "partridge"}
    eagle = games["partridge"][0]
    assert (eagle["name"], eagle["min_seats"], eagle["max_seats"]) == ("eagle", 2, 8)
    assert eagle["options"]["cards"]["7"] == 11


@pytest.mark.parametrize("count", [2, 20])
def test_a_list_of_bots_costs_one_query(
    api: Api, ada: tuple[User, str], count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small.bots(count, ada[0])
    with django_assert_num_queries(1):
        assert len(api.get("bots").json()["results"]) == count
