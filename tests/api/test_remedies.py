"""The detail of a problem states what to do."""

import pytest

from league import bots
from league.models import Bot, Ladder
from tests.api.conftest import Api, assert_problem

pytestmark = pytest.mark.django_db


def test_an_unknown_bot_is_answered_with_the_nearest_name(api: Api, bot: tuple[Bot, str]) -> None:
    for wrong in ("ada-bo", "xda-bot", "ada-bott"):
        detail = assert_problem(api.get(f"bots/{wrong}"), 404, "not-found")["detail"]
        assert detail == f"There is no bot {wrong}. Did you mean ada-bot?"
    detail = assert_problem(api.get("bots/whistler"), 404, "not-found")["detail"]
    assert detail == "There is no bot whistler."


def test_a_retired_bot_is_no_near_name(api: Api, bot: tuple[Bot, str]) -> None:
    assert bots.names_like("ada-bo") == ["ada-bot"]
    Bot.objects.update(retired_at=bot[0].created_at)
    assert bots.names_like("ada-bo") == []


def test_an_unknown_ladder_is_answered_with_the_nearest_name_or_all_names(api: Api) -> None:
    for slug in ("partridge", "twelve-days"):
        Ladder.objects.create(slug=slug, title=slug, game="partridge", rules="eagle", seats=4)
    near = assert_problem(api.get("ladders/partrige"), 404, "not-found")["detail"]
    assert near == "There is no ladder partrige. Did you mean partridge?"
    far = assert_problem(api.get("ladders/12days"), 404, "not-found")["detail"]
    assert far == "There is no ladder 12days. The ladders are partridge, twelve-days."
