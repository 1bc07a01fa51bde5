"""The OpenAPI schema: additions to the output of drf-spectacular."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse

from api.needed_tokens import SCHEMES, add_token
from api.operations import NoFields
from api.problems import API_ROOT, CODES, CONTENT_TYPE
from api.reference import problem_codes

PROBLEM = {
    "type": "object",
    "description": "A problem (RFC 9457): an error with a stable code.",
    "required": ["type", "code", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Address of the code in this reference.",
        },
        "code": {
            "type": "string",
            "enum": sorted(CODES),
            "description": "The code; it does not change.",
        },
        "title": {"type": "string", "description": "The meaning of the code."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {
            "type": "string",
            "description": "What happened, which value is wrong, and what to do.",
        },
        "request_id": {
            "type": "string",
            "description": "Id of the request; the operator finds it in the log.",
        },
        "errors": {
            "type": "array",
            "description": "For `invalid`: the errors.",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {
                        "type": "string",
                        "description": "Path of the field, such as `moves.3.turn`, or name of the "
                        "query parameter; empty for the whole body.",
                    },
                    "message": {"type": "string", "description": "What is wrong with it."},
                },
            },
        },
        "turn": {"type": "integer", "description": "For a move: the turn."},
        "move": {"type": "string", "description": "For a move: the move that was played."},
        "fault": {
            "type": "string",
            "enum": ["timeout", "illegal"],
            "description": "For a move: why the referee played; missing if the bot did.",
        },
        "legal_moves": {
            "type": "array",
            "items": {"type": "string"},
            "description": "For `illegal-move`: the legal moves.",
        },
        "remaining_ms": {
            "type": "integer",
            "description": "For `illegal-move`: milliseconds until the deadline of the turn.",
        },
        "answers_left": {
            "type": "integer",
            "minimum": 0,
            "maximum": 4,
            "description": "For `illegal-move`: number of moves you may still send for the turn.",
        },
        "decided": {
            "type": "boolean",
            "description": "For `illegal-move`: true after the fifth illegal move of a turn. The "
            "referee has then played `move` for the seat, and the seat gets a fault.",
        },
    },
    "additionalProperties": True,
}


_ID = {"type": "integer", "minimum": 1, "maximum": 2**63 - 1}
_PATH_PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "name": ("Name of the bot.", {"type": "string", "pattern": "^[a-z0-9-]{3,32}$"}),
    "slug": ("Slug of the ladder.", {"type": "string", "pattern": "^[-a-zA-Z0-9_]{1,50}$"}),
    "number": ("Number of the version.", {**_ID, "maximum": 2**31 - 1}),
    "username": ("Name of the account.", {"type": "string", "minLength": 1, "maxLength": 150}),
    "round_number": (
        "Number of the round on its ladder, from 1.",
        {**_ID, "maximum": 2**31 - 1},
    ),
    "block_number": (
        "The field `number` of the block.",
        {**_ID, "minimum": 0, "maximum": 2**31 - 1},
    ),
    "match_id": ("Id of the match.", _ID),
    "challenge_id": ("Id of the challenge.", _ID),
    "token_id": ("Id of the token.", _ID),
    "tournament_id": ("Id of the tournament.", _ID),
    "comparison_id": ("Id of the comparison.", _ID),
}
"""By name, the description and the schema of a parameter in a path."""


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A text of your choice, new for each object that you create. If you send the "
    "request again with the same key within 24 hours, it is not run again: you get the first "
    "answer. If the first answer had a token, you get a new token, and the first token stops "
    "working.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
_CREATED_HEADERS = {
    "Location": {
        "description": "Address of the new object.",
        "required": True,
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "Idempotent-Replayed": {
        "description": "`true` if this is the answer to an earlier request with the same key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}

_NOT_MODIFIED = (
    "Nothing has changed: the answer that you have, with this `ETag`, is still current. No body is "
    "sent."
)


@cache
def openapi_schema() -> dict[str, Any]:
    """Return the OpenAPI document of the whole API, made once a process. Do not change it."""
    generator: Any = SchemaGenerator  # it has no types
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return schema


class ApiSchema(AutoSchema):
    """The schema of a call, with the problems that it may answer with."""

    def get_tags(self) -> list[str]:
        """Return the subject of a call: the first part of its path, or blocks."""
        if "/blocks" in self.path:
            return ["blocks"]
        return [self.path.removeprefix(API_ROOT).split("/")[0]]

    def get_override_parameters(self) -> list[Any]:
        """Return the default query parameters of the view; `operation` adds those of the call."""
        query = getattr(self.view, "default_query", NoFields)
        return [query] if query is not NoFields and self.method == "GET" else []

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation with its problems."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        add_problems(operation["responses"], self._problem_codes(operation))
        if {"201", "202"} & {*operation["responses"]}:
            operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
        for status in ("201", "202"):
            if status in operation["responses"]:
                operation["responses"][status]["headers"] = _CREATED_HEADERS
        if self.method == "GET":
            operation["responses"]["304"] = {"description": _NOT_MODIFIED}
        if "{name}" in self.path:
            operation["responses"]["308"] = {
                "description": "The bot has another name now; Location has the new address.",
                "headers": {"Location": _CREATED_HEADERS["Location"]},
            }
        return operation

    def _problem_codes(self, operation: dict[str, Any]) -> set[str]:
        codes = {*getattr(self.view, "problems", {}).get(self.method, ())}
        codes |= {"too-many-requests", "invalid-token", "not-acceptable", "internal-error"}
        codes |= {"bad-request", "unavailable"}
        codes |= {"body-too-large", "length-required", "invalid"}
        if {"201", "202"} & {*operation["responses"]}:
            codes |= {"idempotency-key-reused", "idempotency-key-in-use", "idempotency-key-spent"}
        if self.method != "GET":
            codes |= {"invalid-json", "unsupported-media-type"}
        if any(parameter["name"] == "cursor" for parameter in operation.get("parameters", [])):
            codes.add("invalid-cursor")
        if "{" in self.path:
            codes.add("not-found")
        for permission in self.view.get_permissions():
            codes |= set(getattr(permission, "problems", ()))
        return codes


def add_problems(responses: dict[str, Any], codes: Iterable[str]) -> None:
    """Add the problems with these codes to the responses of a call, by status."""
    for code in sorted(codes, key=lambda code: CODES[code][0]):
        status, title = CODES[code]
        content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        response = responses.setdefault(str(status), {"description": "", "content": content})
        line = f"`{code}`: {title}"
        response["description"] = "\n\n".join(filter(None, [response["description"], line]))


def add_the_rest(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the problem document and each call's token, and sort the calls by path, as a hook."""
    result["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    result["components"]["securitySchemes"] = SCHEMES
    result["paths"] = dict(sorted(result["paths"].items()))
    for methods in result["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path":
                    text, bounds = _PATH_PARAMETERS[parameter["name"]]
                    parameter |= {"description": text, "schema": bounds}
            add_token(operation, {*problem_codes(operation)})
    return result


NO_CONTENT = OpenApiResponse(description="Done. The answer has no body.")
