"""The schema and the docs page, and whether the API keeps to its schema."""

import re

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
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
from tests.league import small

pytestmark = pytest.mark.django_db


def test_the_schema_is_made_without_a_warning(tmp_path):
    call_command(
        "spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml")
    )


def test_the_schema_is_openapi_3_1_in_json(api):
    schema = api.get("schema/").json()
    assert schema["openapi"].startswith("3.1")
    calls = ["matches/{match_id}/moves", "turns", "turns/stream", "matches/{match_id}/events"]
    assert all(f"/api/v1/{call}" in schema["paths"] for call in calls)
    assert set(schema["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]) == {*CODES}


def test_the_docs_tell_of_every_call_and_every_problem(api):
    page = api.get("docs/", Accept="text/html")
    assert page.status_code == 200
    text = page.content.decode()
    for path, methods in api.get("schema/").json()["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in text
    for code in CODES:
        assert f'id="{code}"' in text


def test_the_docs_need_nothing_from_outside(api):
    text = api.get("docs/", Accept="text/html").content.decode()
    assert not re.findall(r'(?:src|href)="(?!#|/[^/]|/")', text)
    assert "<script" not in text


OPERATIONS = sorted(
    (path, method)
    for path, methods in SchemaGenerator().get_schema(public=True)["paths"].items()
    for method in methods
    if path not in gateway_paths()
)


@pytest.fixture
def token_for(ada, bot, organiser):
    """Return, by path, a token that gets past the door."""

    def choose(path: str) -> str:
        if path.endswith("/moves"):
            return bot[1]
        return organiser if path.startswith("/api/v1/tournaments") else ada[1]

    return choose


@pytest.fixture
def kept_connection(db):
    """As Django's test client does: a request's end leaves the test's transaction alone."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.usefixtures("kept_connection")
def test_a_call_keeps_to_the_schema_whatever_it_is_sent(path, method, token_for):
    small.ladder()
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", application)
    token = token_for(path)

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=min(8, settings().max_examples),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case):
        case.call_and_validate(
            headers={"Authorization": f"Bearer {token}"},
            checks=[not_a_server_error, status_code_conformance, response_schema_conformance],
        )

    check()
