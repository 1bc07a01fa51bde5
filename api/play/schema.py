"""The gateway's calls in the OpenAPI schema."""

from typing import Any

from drf_spectacular.plumbing import ResolvedComponent
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from api.play.match_events import describe_match_events, describe_several_matches
from api.play.moves import REFUSALS
from api.play.watching import MAX_MATCHES
from api.schema import ApiSchema, add_problems
from api.serializers.turns import (
    AcceptedSerializer,
    MoveSerializer,
    MovesSerializer,
    VerdictsSerializer,
)

_EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_LAST_EVENT_ID = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The id of the last event that you received.",
    "schema": {"type": "string", "pattern": "^([0-9]{1,9}|end)?$"},
}
_PLACE = "[0-9]{1,18}:([0-9]{1,9}|end)"
_PLACES = {"type": "string", "pattern": f"^({_PLACE}(,{_PLACE})*)?$"}
"""The id of an event in a stream of several matches: the last event of each."""
_TURNS = {
    "type": "object",
    "description": "The open turns of a bot.",
    "required": ["turns"],
    "properties": {
        "turns": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Turn"},
            "description": "The open turns; empty if none opened in time.",
        }
    },
}
_PROBLEMS = ("too-many-requests", "too-many-waiting", "busy", "internal-error", "unavailable")
_MOVE_PROBLEMS = (
    *("not-authenticated", "invalid-token", "bot-token-needed", "not-acceptable", "bad-request"),
    *("body-too-large", "length-required", "invalid", "invalid-json", "unsupported-media-type"),
    *("too-many-requests", "too-many-at-once", "busy", "internal-error", "unavailable"),
)
_TOKEN_PROBLEMS = ("not-authenticated", "invalid-token", "bot-token-needed", *_PROBLEMS)


def add_gateway_paths(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """Add the gateway's calls, as a hook of drf-spectacular that runs before all others."""
    result["paths"].update(gateway_paths())
    schema: Any = ApiSchema()
    schema.registry, schema.view = generator.registry, APIView(request=None)
    for serializer in (MoveSerializer, AcceptedSerializer, MovesSerializer, VerdictsSerializer):
        schema.resolve_serializer(serializer(), "response")
    component: Any = ResolvedComponent  # it has no types
    turns = component("Turns", ResolvedComponent.SCHEMA, schema=_TURNS, object="Turns")
    generator.registry.register(turns)
    result["components"] = generator.registry.build({})
    return result


def gateway_paths() -> dict[str, Any]:
    """Return the OpenAPI path items of the gateway's calls."""
    turns = {"$ref": "#/components/schemas/Turns"}
    return {
        "/api/v1/matches/{match_id}/moves": _post(
            "matches_move",
            "Make a move in an open turn. If you send the same move again, the answer is the same.",
            MoveSerializer,
            AcceptedSerializer,
            ("not-found", *REFUSALS, *_MOVE_PROBLEMS),
            {
                "name": "match_id",
                "in": "path",
                "required": True,
                "schema": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
            },
        ),
        "/api/v1/moves": _post(
            "moves_create",
            "Make up to 100 moves in their order, then get the turns that are open.",
            MovesSerializer,
            VerdictsSerializer,
            _MOVE_PROBLEMS,
        ),
        "/api/v1/turns": _get(
            "turns_list",
            "Get this bot's open turns. If none is open, the call waits until one opens; after "
            "`wait` seconds it returns no turns.",
            {"200": {"description": "", "content": {"application/json": {"schema": turns}}}},
            (*_TOKEN_PROBLEMS, "invalid"),
            {
                "name": "wait",
                "in": "query",
                "description": "Seconds to wait for a turn to open.",
                "schema": {"type": "number", "minimum": 0, "maximum": 30, "default": 0},
            },
            token=True,
        ),
        "/api/v1/turns/stream": _get(
            "turns_stream",
            "Get this bot's turns as server-sent events `turn`: first all open turns, then each "
            "turn when it opens. Comments keep the connection alive. After about five minutes the "
            "stream ends; connect again. If it ends because the token was replaced, or for another "
            "reason, the last event is `problem`, and its data is a problem document.",
            {"200": {"description": "A stream of turns.", "content": _EVENT_STREAM}},
            ("too-many-streams", "invalid", *_TOKEN_PROBLEMS),
            token=True,
        ),
        "/api/v1/matches/{match_id}/events": _get(
            "matches_events",
            describe_match_events(),
            {
                "200": {"description": "A stream of phases.", "content": _EVENT_STREAM},
                "204": {"description": "The event `end` was the last one."},
            },
            ("not-found", "invalid", "too-many-streams", *_PROBLEMS),
            {
                "name": "match_id",
                "in": "path",
                "required": True,
                "schema": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
            },
            _LAST_EVENT_ID,
        ),
        "/api/v1/matches/events": _get(
            "matches_events_of_several",
            describe_several_matches(),
            {
                "200": {"description": "A stream of phases.", "content": _EVENT_STREAM},
                "204": {"description": "The last event of each match was `end`."},
            },
            ("not-found", "invalid", "too-many-streams", *_PROBLEMS),
            {
                "name": "match",
                "in": "query",
                "required": True,
                "description": "Id of a match; repeat the parameter for each match.",
                "schema": {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1, "maximum": 10**18 - 1},
                    "minItems": 1,
                    "maxItems": MAX_MATCHES,
                },
                "style": "form",
                "explode": True,
            },
            {
                "name": "after",
                "in": "query",
                "description": "The id of the last event that you received, if you can't send it "
                "as `Last-Event-ID`.",
                "schema": _PLACES,
            },
            {**_LAST_EVENT_ID, "schema": _PLACES},
        ),
    }


def _post(
    name: str,
    description: str,
    body: type[Serializer[Any]],
    answer: type[Serializer[Any]],
    problems: tuple[str, ...],
    *parameters: dict[str, Any],
) -> dict[str, Any]:
    responses: dict[str, Any] = {"200": {"content": _json(answer), "description": ""}}
    add_problems(responses, problems)
    return {
        "post": {
            "operationId": name,
            "description": description,
            "tags": [name.split("_")[0]],
            "parameters": list(parameters),
            "requestBody": {"content": _json(body), "required": True},
            "responses": responses,
            "security": [{"token": []}],
        }
    }


def _json(serializer: type[Serializer[Any]]) -> dict[str, Any]:
    name = serializer.__name__.removesuffix("Serializer")
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _get(
    name: str,
    description: str,
    answers: dict[str, Any],
    problems: tuple[str, ...],
    *parameters: dict[str, Any],
    token: bool = False,
) -> dict[str, Any]:
    responses = dict(answers)
    add_problems(responses, problems)
    return {
        "get": {
            "operationId": name,
            "description": description,
            "tags": [name.split("_")[0]],
            "parameters": list(parameters),
            "responses": responses,
            "security": [{"token": []}] if token else [{}],
        }
    }
