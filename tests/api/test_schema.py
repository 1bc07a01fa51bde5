"""The schema, the reference page, and answers that match the schema."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    response_schema_conformance,
    status_code_conformance,
)

from api.play.schema import gateway_paths
from api.problems import CODES
from config.wsgi import application
from league.models import Bot
from tests.api.conftest import Api
from tests.league import small

pytestmark = pytest.mark.django_db


def test_generating_the_schema_gives_no_warning(tmp_path: Path) -> None:
    call_command(
        "spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml")
    )


def test_the_schema_is_openapi_3_1_in_json(api: Api) -> None:
    schema = api.get("schema/").json()
    assert schema["openapi"].startswith("3.1")
    calls = ["matches/{match_id}/moves", "turns", "turns/stream", "matches/{match_id}/events"]
    assert all(f"/api/v1/{call}" in schema["paths"] for call in calls)
    assert set(schema["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]) == {*CODES}


def test_the_reference_lists_every_call_and_every_problem(api: Api) -> None:
    page = api.get("docs/", Accept="text/html")
    assert page.status_code == 200
    text = page.content.decode()
    words = re.sub(r"<[^>]+>", "", text)
    for path, methods in api.get("schema/").json()["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in words
    for code in CODES:
        assert f'id="{code}"' in text


def test_the_reference_loads_nothing_from_other_sites(api: Api) -> None:
    text = api.get("docs/", Accept="text/html").content.decode()
    assert not re.findall(r'(?:src|href)="(?!#|/[^/]|/")', text)
    assert "<script" not in text


def test_every_field_and_parameter_has_a_description(api: Api) -> None:
    schema = api.get("schema/").json()
    without = [
        f"{name}.{field}"
        for name, component in schema["components"]["schemas"].items()
        for field, inner in component.get("properties", {}).items()
        if "description" not in inner and not {"results", "next"} <= {*component["properties"]}
    ]
    without += [
        f"{operation['operationId']} {parameter['name']}"
        for methods in schema["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ]
    assert without == []


@pytest.mark.parametrize(
    ("call", "token"),
    [
        ("GET ladders", "Needs no token."),
        ("POST bots", "Needs an owner token."),
        ("PATCH bots/{name}", "Needs the owner token of the bot's owner."),
        ("PUT ladders/{slug}/entries/{name}", "Needs the bot token, or the owner token of"),
        ("POST tournaments", "Needs the owner token of an organiser."),
        ("GET turns", "Needs a bot token."),
        ("DELETE tokens/current", "Needs an owner token or a bot token."),
    ],
)
def test_a_call_states_the_token_that_it_needs(api: Api, call: str, token: str) -> None:
    method, path = call.split()
    operation = api.get("schema/").json()["paths"][f"/api/v1/{path}"][method.lower()]
    assert token in operation["description"]


OPERATIONS = sorted(
    (path, method)
    for path, methods in SchemaGenerator().get_schema(public=True)["paths"].items()
    for method in methods
    if path not in gateway_paths()
)


@pytest.fixture
def token_for(ada: tuple[User, str], bot: tuple[Bot, str], organiser: str) -> Callable[[str], str]:
    """Return a function that chooses a permitted token for a path."""

    def choose(path: str) -> str:
        if path.endswith("/moves"):
            return bot[1]
        return organiser if path.startswith("/api/v1/tournaments") else ada[1]

    return choose


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.usefixtures("kept_connection")
def test_every_answer_of_a_call_matches_the_schema(
    path: str, method: str, token_for: Callable[[str], str]
) -> None:
    small.ladder()
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", application)
    token = token_for(path)

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=min(4, settings().max_examples),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any) -> None:
        case.call_and_validate(
            headers={"Authorization": f"Bearer {token}"},
            checks=[not_a_server_error, status_code_conformance, response_schema_conformance],
        )

    check()
