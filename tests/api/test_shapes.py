"""The schema states the values that fields may have, and the defaults of bodies."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from api.schema import openapi_schema
from tests.api.conftest import Api
from tests.league import small

ANY_TEXT = {
    *("account", "action", "alarm", "cancel_reason", "code", "description", "detail", "made_by"),
    *("name", "next", "next_block", "not_promoted_reason", "note", "notes", "owner", "prefix"),
    *("previous", "printed", "reason", "request_id", "rules_url", "seen", "subject", "test"),
    *("title", "username", "void_reason", "move"),
}
"""Texts for people, names of accounts, and texts that clients do not read apart."""
ANY_NUMBER = {
    *("buchholz", "delta", "elo", "expected", "gain", "head_to_head", "high", "llr", "low"),
    *("lower", "mean", "mean_points", "performance", "rating", "rating_after", "rating_before"),
    *(
        "draws",
        "others",
        "play",
        "rating_now",
        "rating_then",
        "score",
        "score_now",
        "score_then",
        "scores",
        "smallest_gain",
    ),
    *("smallest_gain_elo", "sonneborn_berger", "status", "t", "trend", "upper"),
}
"""Ratings, scores and statistics, which may be any number."""


def components() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = openapi_schema()["components"]["schemas"]
    return found


def without_shape(field: str, schema: dict[str, Any]) -> bool:
    """Return whether a value may be any text or any number."""
    inner = [*schema.get("oneOf", []), *schema.get("allOf", [])]
    if "items" in schema:
        inner.append(schema["items"])
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    bare = False
    if "string" in kinds and field not in ANY_TEXT:
        bare = not {"enum", "pattern", "format", "maxLength"} & {*schema}
    if {"integer", "number"} & {*kinds} and field not in ANY_NUMBER:
        bare = bare or "minimum" not in schema
    return bare or any(without_shape(field, each) for each in inner)


def test_each_field_states_its_values() -> None:
    assert [
        f"{name}.{field}"
        for name, component in components().items()
        for field, schema in component.get("properties", {}).items()
        if without_shape(field, schema)
    ] == []


@pytest.mark.django_db
def test_the_defaults_of_the_schema_are_those_of_the_calls(
    api: Api, ada: tuple[User, str], organiser: str
) -> None:
    small.ladder()
    starts = (timezone.now() + timedelta(days=1)).isoformat()
    new = {"title": "Cup", "ladder": "quick", "starts_at": starts}
    cup = api.post("tournaments", new, token=organiser).json()
    token = api.post("tokens", {"username": "ada", "password": "a long enough secret"}).json()
    token |= api.get(f"tokens/{token['id']}", token=ada[1]).json()
    for name, made in (("NewTournament", cup), ("NewToken", token)):
        fields = components()[name]["properties"]
        defaults = {
            field: schema["default"] for field, schema in fields.items() if "default" in schema
        }
        assert len(defaults) >= 3
        if name == "NewTournament":  # null: the format decides
            assert defaults.pop("blocks_per_table") is None
        assert defaults.items() <= made.items()


@pytest.mark.parametrize(
    ("call", "tokens"),
    [
        ("ladders_list", []),
        ("bots_create", ["owner"]),
        ("turns_list", ["bot"]),
        ("ladders_enter", ["bot", "owner"]),
        ("tournaments_create", ["organiser"]),
        ("bots_quarantine_show", ["owner", "organiser"]),
    ],
)
def test_the_security_of_a_call_names_the_tokens_that_it_takes(
    call: str, tokens: list[str]
) -> None:
    document = openapi_schema()
    [operation] = [
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if operation["operationId"] == call
    ]
    assert operation["x-token"] == tokens
    listed = [kind for each in operation["security"] for kind in each]
    assert {*listed} <= {*document["components"]["securitySchemes"]}
    assert ({} in operation["security"]) == (not tokens)
    assert not tokens or listed == tokens
