"""The gateway's answers match the schema, for right requests and for generated ones."""

import os
from typing import Any

import httpx
import pytest
import schemathesis
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from league.models import Bot, Match
from tests.api.play.sites import Site, open_match
from tests.api.test_schema import CHECKS

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "1")) * 20
"""Generated requests for each call; more search longer."""


def calls() -> dict[str, Any]:
    """Return the gateway's calls by id; streams never end, and have their own tests."""
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(public=True))
    found = (result.ok() for result in schema.get_all_operations())
    named = {operation.definition.raw["operationId"]: operation for operation in found}
    return {name: named[name] for name in ("turns_list", "matches_move", "moves_create")}


def answer(site: Site, case: Any, token: str) -> httpx.Response:
    """Send a case with a bot's token, and check that the answer matches the schema."""
    given = case.as_transport_kwargs(base_url="http://testserver")
    parts = {name: given[name] for name in ("method", "url", "params", "json") if name in given}
    response = site.client.request(
        **parts,
        content=given.get("data"),
        headers={**given["headers"], "Authorization": f"Bearer {token}"},
    )
    case.validate_response(response, checks=CHECKS)
    return response


def test_right_requests_succeed_with_answers_of_the_schema(site: Site, bots: list[Bot]) -> None:
    match, known = open_match(bots), calls()
    response = answer(site, known["turns_list"].Case(query={"wait": 0}), bots[0].name)
    [turn] = response.json()["turns"]
    move = {"turn": turn["turn"], "move": turn["observation"]["legal_moves"][0]}
    case = known["matches_move"].Case(
        path_parameters={"match_id": match.pk}, body=move, media_type="application/json"
    )
    assert answer(site, case, bots[0].name).status_code == 200
    response = answer(site, known["turns_list"].Case(query={"wait": 0}), bots[1].name)
    [turn] = response.json()["turns"]
    move = {"turn": turn["turn"], "move": turn["observation"]["legal_moves"][0]}
    case = known["moves_create"].Case(
        body={"moves": [{"match": match.pk, **move}]}, media_type="application/json"
    )
    assert answer(site, case, bots[1].name).status_code == 200


@pytest.mark.parametrize("name", ["turns_list", "matches_move", "moves_create"])
def test_generated_requests_get_answers_of_the_schema(
    site: Site, bots: list[Bot], name: str
) -> None:
    match: Match = open_match(bots)
    operation = calls()[name]
    tokens = st.sampled_from([bots[0].name, bots[1].name, "nobody"])

    @given(case=operation.as_strategy(), is_known=st.booleans(), token=tokens)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any, is_known: bool, token: str) -> None:
        if is_known and case.path_parameters:
            case.path_parameters = {"match_id": match.pk}
        if name == "turns_list" and "wait" in (case.query or {}):
            case.query["wait"] = 0
        answer(site, case, token)

    check()
