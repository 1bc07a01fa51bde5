"""The OpenAPI schema: what drf-spectacular can't see by itself."""

from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse

from api.play.schema import gateway_paths
from api.problems import CODES, CONTENT_TYPE

PROBLEM = {
    "type": "object",
    "description": "A problem (RFC 9457). Programs go by its code.",
    "required": ["type", "code", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "code": {"type": "string", "enum": sorted(CODES)},
        "title": {"type": "string", "description": "What the code means."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened this time."},
        "request_id": {"type": "string", "description": "To quote when asking about it."},
        "errors": {
            "type": "object",
            "description": "Of invalid input: what is wrong, by field.",
            "additionalProperties": True,
        },
    },
    "additionalProperties": True,
}


def openapi_schema() -> dict[str, Any]:
    """Return the OpenAPI document of the whole API."""
    generator: Any = SchemaGenerator  # it has no types
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return schema


class ApiSchema(AutoSchema):
    """Adds to each call the problems that it may answer with."""

    def get_tags(self) -> list[str]:
        """Return the subject of a call: the first part of its path."""
        return [self.path.removeprefix("/api/v1/").split("/")[0]]

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation with its problems."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        for code in sorted(self._problem_codes(operation), key=lambda code: CODES[code][0]):
            status, title = CODES[code]
            response = operation["responses"].setdefault(
                str(status), {"description": "", "content": problem_content()}
            )
            line = f"`{code}`: {title}"
            response["description"] = "\n\n".join(filter(None, [response["description"], line]))
        return operation

    def _problem_codes(self, operation: dict[str, Any]) -> set[str]:
        codes = {*getattr(self.view, "problems", {}).get(self.method, ())}
        codes |= {"too-many-requests", "invalid-token", "not-acceptable", "internal-error"}
        codes |= {"bad-request", "unavailable"}
        if "requestBody" in operation:
            codes |= {"invalid", "invalid-json", "unsupported-media-type"}
        codes |= {"body-too-large", "length-required"}
        if any(parameter["in"] == "query" for parameter in operation.get("parameters", [])):
            codes |= {"invalid", "invalid-cursor"}
        if "{" in self.path:
            codes.add("not-found")
        for permission in self.view.get_permissions():
            codes |= set(getattr(permission, "problems", ()))
        return codes


def problem_content() -> dict[str, Any]:
    """Return the content of a response that is a problem."""
    return {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def add_the_rest(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the problem document and the calls that wait: a postprocessing hook."""
    result["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    result["paths"] = dict(sorted({**result["paths"], **gateway_paths()}.items()))
    return result


NO_CONTENT = OpenApiResponse(description="Done; there is nothing to say.")
