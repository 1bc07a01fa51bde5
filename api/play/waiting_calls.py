"""The calls that the waiting app answers (`api.play`), for the schema."""

from typing import Any

from api.problems import CODES, CONTENT_TYPE

_EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_PROBLEMS = ("too-many-requests", "internal-error", "unavailable")
_TOKEN_PROBLEMS = ("not-authenticated", "invalid-token", "bot-token-needed", *_PROBLEMS)


def waiting_calls() -> dict[str, Any]:
    """Return the OpenAPI path items of the calls that wait."""
    turns = {"type": "array", "items": {"$ref": "#/components/schemas/Turn"}}
    return {
        "/api/v1/turns": _get(
            "turns_list",
            "Get this bot's open turns: at once if there are any, else as soon as one opens, else "
            "an empty list when the time is over.",
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
            "Get this bot's turns as server-sent events `turn`, each once, beginning with all that "
            "are open; comments keep the line alive. An event `problem` is the last: the "
            "token was replaced, say; its data is a problem document.",
            {"200": {"description": "A stream of turns.", "content": _EVENT_STREAM}},
            _TOKEN_PROBLEMS,
            token=True,
        ),
        "/api/v1/matches/{match_id}/events": _get(
            "matches_events",
            "Watch a match as server-sent events: `phase` with what the public sees after each "
            "phase, its id being the number of moves so far, and `end`. A finished match is told "
            "from its start; nothing is told of a deal that is still in play at another table.",
            {
                "200": {"description": "A stream of phases.", "content": _EVENT_STREAM},
                "204": {"description": "After the event `end` nothing more will come."},
            },
            ("not-found", *_PROBLEMS),
            {
                "name": "match_id",
                "in": "path",
                "required": True,
                "schema": {"type": "integer"},
            },
            {
                "name": "Last-Event-ID",
                "in": "header",
                "description": "Go on after this event.",
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
    for code in sorted(problems, key=lambda code: CODES[code][0]):
        status, title = CODES[code]
        content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        known = responses.setdefault(str(status), {"description": "", "content": content})
        line = f"`{code}`: {title}"
        known["description"] = "\n\n".join(filter(None, [known["description"], line]))
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
