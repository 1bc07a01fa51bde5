"""The gateway's calls in the OpenAPI schema."""

from typing import Any

from api.play.match_events import describe_match_events
from api.schema import add_problems

_EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_PROBLEMS = ("too-many-requests", "too-many-waiting", "busy", "internal-error", "unavailable")
_TOKEN_PROBLEMS = ("not-authenticated", "invalid-token", "bot-token-needed", *_PROBLEMS)


def add_gateway_paths(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the gateway's calls, as a hook of drf-spectacular."""
    result["paths"].update(gateway_paths())
    result["components"]["schemas"]["Turns"] = {
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
    return result


def gateway_paths() -> dict[str, Any]:
    """Return the OpenAPI path items of the gateway's calls."""
    turns = {"$ref": "#/components/schemas/Turns"}
    return {
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
            "turn when it opens. Comments keep the connection alive. If the stream has to end, for "
            "example because the token was replaced, the last event is `problem`, and its data is "
            "a problem document.",
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
            {
                "name": "Last-Event-ID",
                "in": "header",
                "description": "The id of the last event that you received.",
                "schema": {"type": "string"},
            },
        ),
    }


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
