"""Signing up, signing in, tokens."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.api.conftest import Api, assert_problem, fields_of

pytestmark = pytest.mark.django_db
NEW = {"username": "bob", "password": "a long enough secret"}


def test_signing_up_gives_a_token_that_works(api: Api) -> None:
    made = api.post("accounts", NEW)
    assert made.status_code == 201
    token = made.json()["token"]
    assert api.post("bots", {"name": "bob-bot", "kind": "remote"}, token=token).status_code == 201


def test_the_problem_names_a_taken_name_and_a_weak_password_by_field(
    api: Api, ada: tuple[User, str]
) -> None:
    answer = api.post("accounts", {"username": "Ada", "password": "123"})
    problem = assert_problem(answer, 400, "invalid")
    assert fields_of(problem) == {"username", "password"}


def test_the_problem_lists_missing_fields(api: Api) -> None:
    problem = assert_problem(api.post("accounts", {}), 400, "invalid")
    assert fields_of(problem) == {"username", "password"}


@pytest.mark.parametrize("name", ["a\0b", "x" * 151, "two words", ["list"], None])
def test_a_malformed_account_name_is_refused(api: Api, name: Any) -> None:
    assert_problem(api.post("accounts", {**NEW, "username": name}), 400, "invalid")


def test_signing_in_gives_one_more_token(api: Api) -> None:
    first = api.post("accounts", NEW).json()["token"]
    again = api.post("tokens", NEW)
    assert again.status_code == 201
    assert again.json()["token"] != first
    assert api.call("DELETE", "tokens/current", token=first).status_code == 204


@pytest.mark.parametrize("wrong", [{"username": "bob"}, {"username": "nobody"}])
def test_every_kind_of_wrong_credentials_gets_the_same_problem(
    api: Api, wrong: dict[str, str]
) -> None:
    api.post("accounts", NEW)
    answer = api.post("tokens", {"password": "not this one", **wrong})
    assert_problem(answer, 401, "wrong-credentials")


def test_a_revoked_token_is_refused(api: Api, ada: tuple[User, str]) -> None:
    assert api.call("DELETE", "tokens/current", token=ada[1]).status_code == 204
    answer = api.call("DELETE", "tokens/current", token=ada[1])
    assert_problem(answer, 401, "invalid-token")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_revoking_without_a_token_is_a_problem(api: Api) -> None:
    answer = api.call("DELETE", "tokens/current")
    assert_problem(answer, 401, "not-authenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_wrong_token_is_refused_even_where_none_is_needed(api: Api) -> None:
    assert_problem(api.get("games", token="tn_o_wrong"), 401, "invalid-token")


def test_other_schemes_count_as_no_token(api: Api) -> None:
    assert api.get("games", Authorization="Basic YTpi").status_code == 200


def test_a_password_is_changed_with_the_old_one(api: Api, ada: tuple[User, str]) -> None:
    sent = {
        "username": "ada",
        "password": "a long enough secret",
        "new_password": "a quite different secret",
    }
    wrong = {**sent, "password": "not mine"}
    assert_problem(api.post("accounts/password", wrong), 401, "wrong-credentials")
    weak = {**sent, "new_password": "password"}
    problem = assert_problem(api.post("accounts/password", weak), 400, "invalid")
    assert fields_of(problem) == {"new_password"}
    assert api.post("accounts/password", sent).status_code == 204
    assert_problem(api.post("accounts/password", sent), 401, "wrong-credentials")
    assert api.get("tokens/current", token=ada[1]).status_code == 200
    back = {
        "username": "ada",
        "password": sent["new_password"],
        "new_password": sent["password"],
        "revoke_tokens": True,
    }
    assert api.post("accounts/password", back).status_code == 204
    assert_problem(api.get("tokens/current", token=ada[1]), 401, "invalid-token")
