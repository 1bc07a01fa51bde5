"""Tokens: names, scopes, expiry, last use, and revoking them."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from league.models import Bot, Token
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small

pytestmark = pytest.mark.django_db
CREDENTIALS = {"username": "ada", "password": "a long enough secret"}


def test_an_owner_sees_all_own_tokens_and_no_others(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    new = {**CREDENTIALS, "name": "laptop", "scopes": ["read"]}
    made = api.post("tokens", new).json()
    rows = api.get("tokens", token=ada[1]).json()["results"]
    assert [(row["name"], row["bot"], row["scopes"]) for row in rows] == [
        ("laptop", None, ["read"]),
        ("", "ada-bot", ["play"]),
        ("", None, ["manage", "read", "organise"]),
    ]
    assert rows[0]["id"] == made["id"]
    assert made["token"].startswith(rows[0]["prefix"])
    assert made["token"] not in str(rows)
    eves = Token.objects.get(owner=eve[0])
    for method in ("GET", "DELETE"):
        assert_problem(api.call(method, f"tokens/{eves.pk}", token=ada[1]), 404, "not-found")


@pytest.mark.parametrize(
    ("scope", "method", "path", "status"),
    [
        ("read", "GET", "tokens", 200),
        ("read", "POST", "bots/ada-bot/token", 403),
        ("read", "PUT", "ladders/quick/entries/ada-bot", 403),
        ("read", "POST", "tournaments/1/cancel", 403),
        ("manage", "GET", "bots/ada-bot/versions/1/log", 403),
        ("manage", "PUT", "ladders/quick/entries/ada-bot", 200),
        ("manage", "GET", "ladders", 200),
        ("organise", "POST", "bots/ada-bot/token", 403),
        ("organise", "DELETE", "tokens/current", 204),
    ],
)
def test_a_token_does_what_its_scopes_allow(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], scope: str, method: str, path: str,
    status: int,
) -> None:  # fmt: skip
    small.ladder()
    User.objects.update(is_staff=True)
    token = api.post("tokens", {**CREDENTIALS, "scopes": [scope]}).json()["token"]
    answer = api.call(method, path, token=token)
    if status == 403:
        problem = assert_problem(answer, 403, "scope-needed")
        assert scope in problem["detail"]
    else:
        assert answer.status_code == status


def test_an_expired_token_does_not_work(api: Api, ada: tuple[User, str]) -> None:
    later = (timezone.now() + timedelta(hours=1)).isoformat()
    made = api.post("tokens", {**CREDENTIALS, "expires_at": later}).json()
    assert api.get("games", token=made["token"]).status_code == 200
    Token.objects.filter(pk=made["id"]).update(expires_at=timezone.now())
    assert_problem(api.get("games", token=made["token"]), 401, "invalid-token")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("expires_at", "2001-01-01T00:00:00Z"),
        ("scopes", []),
        ("scopes", ["play"]),
        ("scopes", ["read", "read"]),
        ("scopes", "read"),
        ("name", "x" * 41),
    ],
)
def test_a_token_with_a_wrong_setting_is_refused(
    api: Api, ada: tuple[User, str], field: str, value: Any
) -> None:
    problem = assert_problem(api.post("tokens", {**CREDENTIALS, field: value}), 400, "invalid")
    assert {name.partition(".")[0] for name in fields_of(problem)} == {field}


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "my-key-1"}])
def test_a_token_that_was_never_used_has_no_last_use(
    api: Api, ada: tuple[User, str], headers: dict[str, str]
) -> None:
    credentials = {"username": "ada", "password": "a long enough secret"}
    made = api.post("tokens", credentials, **headers).json()["id"]
    api.post("bots", {"name": "ada-bot", "kind": "remote"}, token=ada[1], **headers)
    listed = api.get("tokens", token=ada[1]).json()["results"]
    assert {each["id"]: each["used_at"] for each in listed}[made] is None
    assert [each["used_at"] for each in listed if each["bot"]] == [None]


def test_the_last_use_is_noted_once_a_minute(api: Api, ada: tuple[User, str]) -> None:
    api.get("games", token=ada[1])
    first = api.get("tokens/current", token=ada[1]).json()["used_at"]
    assert first is not None
    api.get("games", token=ada[1])
    assert api.get("tokens/current", token=ada[1]).json()["used_at"] == first
    Token.objects.update(used_at=timezone.now() - timedelta(minutes=2))
    api.get("games", token=ada[1])
    assert Token.objects.filter(used_at__gt=timezone.now() - timedelta(minutes=1)).exists()


def test_an_owner_revokes_a_token_by_its_id(api: Api, ada: tuple[User, str]) -> None:
    made = api.post("tokens", CREDENTIALS)
    assert made["Location"] == f"/api/v1/tokens/{made.json()['id']}"
    assert api.call("DELETE", made["Location"], token=ada[1]).status_code == 204
    assert_problem(api.get("games", token=made.json()["token"]), 401, "invalid-token")


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("path", ["tokens/current", "tokens/{}"])
def test_a_token_is_revoked_by_a_repetition_of_a_call_that_crashed(
    api: Api, ada: tuple[User, str], monkeypatch: pytest.MonkeyPatch, path: str, *, commits: bool
) -> None:
    made = api.post("tokens", CREDENTIALS).json()
    path, token = path.format(made["id"]), made["token"]

    def delete_and_crash(given: Token) -> None:
        if commits:
            given.delete()
        raise RuntimeError("the machine is gone")

    with monkeypatch.context() as patch:
        patch.setattr("league.accounts.revoke", delete_and_crash)
        assert api.call("DELETE", path, token=token).status_code == 500
    if commits:
        assert_problem(api.call("DELETE", path, token=token), 401, "invalid-token")
        assert_problem(api.call("DELETE", f"tokens/{made['id']}", token=ada[1]), 404, "not-found")
    else:
        assert api.call("DELETE", path, token=token).status_code == 204
    assert_problem(api.get("games", token=token), 401, "invalid-token")
    assert list(Token.objects.values_list("owner", flat=True)) == [ada[0].pk]


@pytest.mark.parametrize(
    "token", ["x", "tn_o_", "tn_b_", "tn_x_" + "a" * 43, "tn_o_" + "a" * 200, "tn_o_ä", "a b"]
)
def test_a_token_of_a_wrong_shape_is_refused(api: Api, db: None, token: str) -> None:
    assert_problem(api.get("games", token=token), 401, "invalid-token")
