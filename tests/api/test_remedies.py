"""The detail of a problem states what to do."""

import pytest
from django.contrib.auth.models import User

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
    near = assert_problem(api.get("ladders/12-days"), 404, "not-found")["detail"]
    assert near == "There is no ladder 12-days. Did you mean twelve-days?"
    far = assert_problem(api.get("ladders/chess"), 404, "not-found")["detail"]
    assert far == "There is no ladder chess. The ladders are partridge, twelve-days."


def test_the_detail_of_invalid_input_names_the_first_field(api: Api, ada: tuple[User, str]) -> None:
    match = {"game": "twelve-days", "rules": "calliope", "bots": ["ada-bot"]}
    one = assert_problem(api.post("matches", match, token=ada[1]), 400, "invalid")
    assert one["detail"] == "bots: Name at least 2 bots."
    assert one["title"] == "The input is not valid."
    two = assert_problem(api.post("accounts", {}), 400, "invalid")
    assert two["detail"] == "username: This field is required. (1 more error.)"


def test_a_token_without_its_scheme_is_answered_with_the_scheme(api: Api) -> None:
    answer = api.get("tokens/current", Authorization="tn_o_1")
    assert (
        "Write `Bearer` and a space" in assert_problem(answer, 401, "not-authenticated")["detail"]
    )
    answer = api.get("tokens/current")
    assert "Write `Bearer`" not in assert_problem(answer, 401, "not-authenticated")["detail"]


def test_the_answer_to_a_wrong_token_names_the_calls_that_return_tokens(api: Api) -> None:
    for token, code in (("tn_o_wrong", "invalid-token"), ("", "not-authenticated")):
        detail = assert_problem(api.get("tokens", token=token), 401, code)["detail"]
        assert "POST /api/v1/tokens returns" in detail
        assert "POST /api/v1/bots/NAME/token" in detail


def test_a_form_in_place_of_json_is_answered_with_the_content_type(api: Api) -> None:
    answer = api.post("accounts", b"{}", content_type="application/x-www-form-urlencoded")
    detail = assert_problem(answer, 415, "unsupported-media-type")["detail"]
    assert "application/x-www-form-urlencoded" in detail
    assert "Content-Type: application/json" in detail


def test_an_address_without_a_call_leads_to_the_docs(api: Api) -> None:
    for path in ("/api/v1", "/api/v1/"):
        detail = assert_problem(api.get(path), 404, "not-found")["detail"]
        assert "/api/v1/docs/" in detail
