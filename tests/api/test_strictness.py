"""Unknown names and wrong types are refused, and nothing is converted."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from api.schema import openapi_schema
from api.unknown_names import MAX_ERRORS
from league.models import Bot
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small

pytestmark = pytest.mark.django_db
NEW = {"username": "bob", "password": "a long enough secret"}
BOT = {"name": "my-bot", "kind": "remote"}


def message_of(problem: dict[str, Any], field: str) -> str:
    [message] = [each["message"] for each in problem["errors"] if each["field"] == field]
    return str(message)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("username", 8785178, "Must be a text, not a whole number."),
        ("username", True, "Must be a text, not true or false."),
        ("username", 1.5, "Must be a text, not a number with a fraction or an exponent."),
        ("username", ["bob"], "Must be a text, not a list."),
        ("username", {"name": "bob"}, "Must be a text, not an object."),
        ("username", "bob\n", "Must not begin or end with white space."),
        ("username", " bob", "Must not begin or end with white space."),
        ("password", 12345678901, "Must be a text, not a whole number."),
    ],
)
def test_a_text_is_not_made_from_another_type(
    api: Api, field: str, value: object, message: str
) -> None:
    problem = assert_problem(api.post("accounts", {**NEW, field: value}), 400, "invalid")
    assert problem["errors"] == [{"field": field, "message": message}]
    assert not User.objects.exists()


@pytest.mark.parametrize("name", [10**400, 123, "my-bot\n", "my-bot ", "MY-BOT", "my_bot", "ab"])
def test_the_name_of_a_bot_is_not_converted(api: Api, ada: tuple[User, str], name: object) -> None:
    answer = api.post("bots", {**BOT, "name": name}, token=ada[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"name"}
    assert not Bot.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"paused": "true"}, "paused"),
        ({"paused": 1}, "paused"),
        ({"paused": 0}, "paused"),
        ({"paused": None}, "paused"),
        ({"description": 5}, "description"),
        ({"description": None}, "description"),
        ({"pause": True}, "pause"),
    ],
)
def test_a_change_with_a_wrong_type_changes_nothing(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], changes: Any, field: str
) -> None:
    answer = api.call("PATCH", "bots/ada-bot", changes, token=ada[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {field}
    assert not Bot.objects.get().paused


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("swiss_rounds", "3"),
        ("swiss_rounds", 3.0),
        ("swiss_rounds", True),
        ("swiss_rounds", 10**30),
        ("late_entry", "false"),
        ("starts_at", 1_800_000_000),
        ("starts_at", "2030-01-01T00:00:00"),
        ("starts_at", "2030-01-01"),
        ("title", "two\0parts"),
        ("title", "   "),
        ("format", ["swiss"]),
        ("ladder", 1),
    ],
)
def test_a_tournament_with_a_setting_of_a_wrong_type_is_refused(
    api: Api, organiser: str, setting: str, value: object
) -> None:
    small.ladder()
    new = {"title": "Cup", "ladder": "quick", "starts_at": "2030-01-01T00:00:00Z", setting: value}
    problem = assert_problem(api.post("tournaments", new, token=organiser), 400, "invalid")
    assert fields_of(problem) == {setting}


def test_an_unknown_field_is_refused_with_the_nearest_known_one(api: Api, organiser: str) -> None:
    small.ladder()
    new = {"title": "Cup", "ladder": "quick", "starts_at": "2030-01-01T00:00:00Z"}
    answer = api.post("tournaments", {**new, "swissrounds": 5}, token=organiser)
    problem = assert_problem(answer, 400, "invalid")
    expected = "There is no field 'swissrounds'. Did you mean 'swiss_rounds'?"
    assert problem["errors"] == [{"field": "swissrounds", "message": expected}]
    answer = api.post("tournaments", {**new, "colour": "red"}, token=organiser)
    assert "The fields are: blocks_per_table, " in message_of(answer.json(), "colour")


def test_one_answer_has_all_errors(api: Api, ada: tuple[User, str]) -> None:
    answer = api.post("bots", {"name": 5, "sort": "remote"}, token=ada[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"name", "sort", "kind"}


def test_thousands_of_unknown_fields_get_a_short_answer(api: Api) -> None:
    body = {f"field-{number}-{'x' * 80}": 0 for number in range(500)}
    problem = assert_problem(api.post("accounts", body), 400, "invalid")
    assert len(problem["errors"]) <= MAX_ERRORS + 2
    assert all(len(each["message"]) < 300 for each in problem["errors"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"username": "a", "username": "b"}', "twice"),
        (b'{"username": 1e400}', "too large"),
        (b'{"username": Infinity}', "not a JSON number"),
        (b'{"username": "\\ud800"}', "surrogate"),
        (b'{"\\udc00": 1}', "surrogate"),
        (b'{"username": ' + b"[" * 40 + b"]" * 40 + b"}", "more than 32 levels deep"),
        (b'{"username": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"username": "a",}', " at line 1, column "),
        (b'{"username":\n "a" 1}', "JSON: expecting ',' delimiter at line 2, column 6."),
        (b'{"username": "\xff"}', "JSON: byte 15 is not UTF-8."),
        (b"{'username': 'a'}", "property name enclosed in double quotes at line 1, column 2."),
        (b'\xef\xbb\xbf{"username": "a"}', "BOM"),
        (b'{"username": "\x01"}', "control character"),
    ],
)
def test_json_that_is_ambiguous_or_out_of_bounds_is_refused(
    api: Api, body: bytes, reason: str
) -> None:
    problem = assert_problem(api.post("accounts", body), 400, "invalid-json")
    assert reason in problem["detail"]


@pytest.mark.parametrize(
    ("path", "parameter", "message"),
    [
        ("bots?limt=5", "limt", "Did you mean 'limit'?"),
        ("games?limit=5", "limit", "This call takes no parameters."),
        ("matches?state=finished", "state", "Did you mean 'status'?"),
        ("matches?status=finished&status=void", "status", "Must be given only once."),
        ("matches?limit=1.0", "limit", "Must be a whole number, such as 3."),
        ("matches?limit=%D9%A3", "limit", "Must be a whole number, such as 3."),
        ("matches?since=yesterday", "since", "ISO 8601"),
        ("matches?until=2026-12-24T18:00:00", "until", "ISO 8601"),
        ("ladders/quick/standings?hidden=True", "hidden", "Must be true or false."),
    ],
)
def test_a_parameter_that_is_unknown_or_of_a_wrong_type_is_refused(
    api: Api, path: str, parameter: str, message: str
) -> None:
    small.ladder()
    problem = assert_problem(api.get(path), 400, "invalid")
    assert message in message_of(problem, parameter)


CALLS = [
    (method, path)
    for path, methods in openapi_schema()["paths"].items()
    for method in methods
    if not path.endswith(("/turns", "/turns/stream", "/events", "/moves"))
]


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_no_call_ignores_an_unknown_parameter_or_field(
    api: Api,
    ada: tuple[User, str],
    bot: tuple[Bot, str],
    organiser: str,
    method: str,
    path: str,
) -> None:
    small.ladder()
    names = {"name": "ada-bot", "slug": "quick", "username": "ada"}
    path = re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], "1"), path)
    tokens = ["", ada[1], bot[1], organiser]
    answers = [api.call(method.upper(), f"{path}?bogus=1", token=each) for each in tokens]
    assert any(
        answer.status_code == 400 and "bogus" in fields_of(answer.json()) for answer in answers
    )
    assert all(answer.status_code >= 400 for answer in answers)
    if method != "get":
        answers = [api.call(method.upper(), path, {"bogus": 1}, token=each) for each in tokens]
        assert all(answer.status_code >= 400 for answer in answers)
