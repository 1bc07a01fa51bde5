"""The schema, the reference page, and answers that match the schema."""

import html
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.specs.openapi.checks import (
    response_schema_conformance,
    status_code_conformance,
)

from api.problems import CODES
from config.wsgi import application
from league import accounts, bots, competitions
from league.models import (
    Block,
    Bot,
    BotSource,
    BotVersion,
    Match,
    QualifyingMatch,
    Standing,
    Token,
)
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


def test_the_reference_shows_token_bounds_and_example_of_a_call(api: Api) -> None:
    page = api.get("docs/", Accept="text/html", Host="localhost:8001").content.decode()
    call = page.partition('id="turns_list"')[2].partition("</article>")[0]
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", "", call)).split())
    assert "GET /api/v1/turns bot token" in words
    assert "From 0 to 30. Default: 0." in words
    assert "curl 'http://localhost:8001/api/v1/turns?wait=25'" in words
    assert "httpx.get(" in words
    assert '"legal_moves": [' in words


def test_the_reference_loads_nothing_from_other_sites(api: Api) -> None:
    text = api.get("docs/", Accept="text/html").content.decode()
    loaded = re.sub(r'<link rel="canonical"[^>]*>', "", text)
    assert not re.findall(r'(?:src|href)="(?!#|/[^/]|/")', loaded)
    scripts = re.findall(r"<script[^>]*>", text)
    assert all(' src="/static/' in script for script in scripts), scripts


def test_the_bounds_of_moves_and_event_ids_are_written_out(api: Api) -> None:
    document = api.get("schema/").json()
    assert document["components"]["schemas"]["Moves"]["properties"]["moves"]["maxItems"] == 100
    for path in ("/api/v1/matches/{match_id}/events", "/api/v1/matches/events"):
        found = document["paths"][path]["get"]["parameters"]
        texts = [each["schema"] for each in found if each["schema"].get("type") == "string"]
        assert texts
        assert all("pattern" in schema for schema in texts)


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


CONDITIONS = {"changed_at", "replaces", "seen"}
"""Fields that refuse a call if somebody else has changed the state; no call changes them."""


def test_each_optional_field_of_a_body_states_what_happens_without_it(api: Api) -> None:
    schema = api.get("schema/").json()
    without = []
    for methods in schema["paths"].values():
        for method, operation in methods.items():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                name = content["schema"]["$ref"].rpartition("/")[2]
                body = schema["components"]["schemas"][name]
                keeps = method == "patch" and "leave out stays as it is" in body["description"]
                without += [
                    f"{operation['operationId']}.{field}"
                    for field, inner in body["properties"].items()
                    if field not in body.get("required", ())
                    and "default" not in inner
                    and not re.search(r"if you leave (it|.+ )out", inner["description"], re.I)
                    and (field in CONDITIONS or not keeps)
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
        (
            "GET bots/{name}/quarantine",
            "Needs the owner token of the bot's owner or of an organiser.",
        ),
        ("POST matches", "Needs an owner token; at least one of the bots must be yours."),
        ("GET turns", "Needs a bot token."),
        ("DELETE tokens/current", "Needs an owner token or a bot token."),
    ],
)
def test_a_call_states_the_token_that_it_needs(api: Api, call: str, token: str) -> None:
    method, path = call.split()
    operation = api.get("schema/").json()["paths"][f"/api/v1/{path}"][method.lower()]
    assert token in operation["description"]


EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "1"))
"""Generated requests for each call and role; more search longer."""
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
PLAIN = {"Accept-Encoding": "identity"}
"""Schemathesis reads the bodies of WSGI answers as they are; it can't decode gzip."""
SKIPPED = {
    *("turns_list", "turns_stream", "matches_events", "matches_events_of_several"),
    *("matches_move", "moves_create"),
}
"""The gateway's calls; tests/api/play/test_schema.py calls them."""


class World:
    """A league in which every call has something to act on.

    Attributes:
        tokens: by role.
        ids: values of path parameters.
    """

    def __init__(self, ada: tuple[User, str], bot: tuple[Bot, str], organiser: str) -> None:
        self.tokens = {"owner": ada[1], "bot": bot[1], "organiser": organiser}
        ladder = small.ladder()
        hosted, _ = bots.create_bot(owner=ada[0], name="hosted", kind="hosted")
        versions = [BotVersion.objects.create(bot=hosted, number=n) for n in (1, 2)]
        hosted.current = versions[0]
        hosted.save()
        for version in versions:
            BotSource.objects.create(version=version, data=b"def choose(o): ...")
            QualifyingMatch.objects.create(version=version, game="twelve-days", passed=True)
        small.bots(4, prefix="house")
        competitions.enter_ladder(ladder=ladder, bot=hosted)
        for house in Bot.objects.house():
            competitions.enter_ladder(ladder=ladder, bot=house)
        competitions.open_ladder_round(ladder.pk)
        cup = small.tournament(ladder)
        small.run_all()
        match = Match.objects.filter(status="finished", seating__bot=hosted).first()
        starts_at = timezone.now() + timedelta(hours=1)
        ahead = competitions.announce_tournament(title="Cup", ladder=ladder, starts_at=starts_at)
        competitions.advance_tournament(ahead.pk)
        Standing.objects.get_or_create(
            ladder=ladder, bot=hosted, defaults={"version": 1, "rating": 1_500_000, "blocks": 0}
        )
        self.cup, self.ahead = cup.pk, ahead.pk
        block = Block.objects.filter(round__tournament=None, state="finished").earliest("pk")
        accounts.create_account(username="mallory", password="a long enough secret")
        self.ids: dict[str, Any] = {
            "name": "hosted",
            "slug": ladder.slug,
            "username": "mallory",
            "round_number": block.round.number,
            "block_number": block.number,
            "number": 1,
            "match_id": match.pk if match else Match.objects.earliest("pk").pk,
            "tournament_id": cup.pk,
            "token_id": Token.objects.create(owner=ada[0], prefix="x", digest="x").pk,
            "comparison_id": 1,
            "challenge_id": 1,
        }

    def ids_for(self, call: str) -> dict[str, Any]:
        """Return the path parameters with which a call can succeed."""
        changing = (
            *("enter", "withdraw", "change", "cancel", "restore"),
            *("disqualify", "disqualification", "reinstate"),
        )
        if call.startswith("bots_") and "quarantine" in call:
            return {**self.ids, "name": "ada-bot"}
        if call.startswith("tournaments_") and call.endswith(changing):
            return {**self.ids, "tournament_id": self.ahead}
        return self.ids


ORDER = ("create", "upload", "enter", "start")
LAST = ("withdraw", "leave", "cancel", "delete", "revoke", "lift_quarantine", "tournaments_restore")
STARTS_AT = (timezone.now() + timedelta(days=30)).isoformat()
BODIES: dict[str, Any] = {
    "accounts_quarantine": {"reason": "It floods the league."},
    "blocks_replay": {"reason": "The sandbox failed."},
    "blocks_void": {"reason": "The sandbox failed."},
    "bots_quarantine": {"reason": "It floods the league."},
    "accounts_create": {"username": "carol", "password": "a long enough secret"},
    "accounts_password": {
        "username": "ada",
        "password": "a long enough secret",
        "new_password": "a long enough secret",
    },
    "tokens_create": {"username": "ada", "password": "a long enough secret"},
    "bots_create": {"name": "new-bot", "kind": "remote"},
    "bots_change": {"description": "Plays low."},
    "challenges_create": {"bot": "hosted", "opponents": ["house-0", "house-1"]},
    "comparisons_create": {"ladder": "quick", "new": 2, "old": 1},
    "matches_create": {"game": "partridge", "rules": "eagle", "bots": ["ada-bot", "house-0"]},
    "versions_change": {"note": "counts cards"},
    "tournaments_create": {"title": "Bowl", "ladder": "quick", "starts_at": STARTS_AT},
    "tournaments_cancel": {"reason": "Rain."},
    "tournaments_change": {"title": "Vase"},
    "tournaments_disqualify": {"reason": "It cheated."},
}
"""By call, a body with which it can succeed."""


@pytest.fixture
def world(
    ada: tuple[User, str], bot: tuple[Bot, str], organiser: str, kept_connection: None
) -> World:
    return World(ada, bot, organiser)


def closed_application(environ: Any, start_response: Any) -> Iterator[bytes]:
    """Answer as the league does, and close the answer at its end, as a web server does.

    Schemathesis doesn't close answers, and an export holds its place until it is closed.
    """
    answer = application(environ, start_response)
    try:
        yield from answer
    finally:
        answer.close()


def described_calls() -> Any:
    """Return the calls of Django by id, in an order in which each finds what it needs."""
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", closed_application)
    found = {
        operation.definition.raw["operationId"]: operation
        for operation in (result.ok() for result in schema.get_all_operations())
    }
    names = sorted(found.keys() - SKIPPED, key=lambda name: (_place(name), name))
    return {name: found[name] for name in names}


def _place(name: str) -> int:
    return 0 if name.endswith(ORDER) else 2 if name.endswith(LAST) else 1


def test_nine_of_ten_calls_succeed_and_every_answer_matches_the_schema(world: World) -> None:
    succeeded, calls = set(), described_calls()
    for name, operation in calls.items():
        names = re.findall(r"\{(\w+)\}", operation.path)
        ids = world.ids_for(name)
        body = BODIES.get(name, NOT_SET)
        for token in world.tokens.values():
            case = operation.Case(
                path_parameters={each: ids[each] for each in names},
                body=body,
                media_type="application/json" if body is not NOT_SET else None,
            )
            if name in ("tokens_revoke", "tokens_delete", "bots_delete", "versions_upload"):
                continue  # they have their own tests
            answer = case.call_and_validate(
                headers={**PLAIN, "Authorization": f"Bearer {token}"}, checks=CHECKS
            )
            if answer.status_code < 300:
                succeeded.add(name)
            if name == "comparisons_create" and answer.status_code == 201:
                world.ids["comparison_id"] = answer.json()["id"]
            if name == "challenges_create" and answer.status_code == 201:
                world.ids["challenge_id"] = answer.json()["id"]
    missing = sorted(calls.keys() - succeeded)
    print(f"{len(succeeded)} of {len(calls)} calls succeed; these do not: {missing}")
    assert len(succeeded) >= 0.9 * len(calls), missing


@pytest.mark.parametrize("role", ["owner", "bot", "organiser"])
def test_generated_requests_get_answers_of_the_schema(world: World, role: str) -> None:
    headers = {**PLAIN, "Authorization": f"Bearer {world.tokens[role]}"}
    calls = list(described_calls().items())
    if EXAMPLES == 1:  # to save time, each call gets requests of one role
        calls = calls[["owner", "bot", "organiser"].index(role) :: 3]
    for name, operation in calls:
        if name in ("tokens_revoke", "tokens_delete", "bots_delete"):
            continue  # they would end the other requests

        @given(case=operation.as_strategy(), known=st.booleans())
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.generate],
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any, known: bool, ids: dict[str, Any]) -> None:
            if known:
                case.path_parameters = {key: ids[key] for key in case.path_parameters or {}}
            case.call_and_validate(headers=headers, checks=CHECKS)

        check(ids=world.ids_for(name))
