"""The docs page: the schema, for people to read, from this server alone."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

from api.problems import CODES


def docs(request: HttpRequest) -> HttpResponse:
    """Show all calls by subject, the schemas they speak of, and the problem codes."""
    schema = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    calls: dict[str, list[dict[str, Any]]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            call = {"path": path, "method": method.upper(), **_readable(operation)}
            calls.setdefault(operation["tags"][0], []).append(call)
    schemas = schema["components"]["schemas"]
    context = {
        "info": schema["info"],
        "calls": calls,
        "schemas": {name: _properties(content) for name, content in schemas.items()},
        "codes": CODES,
    }
    return render(request, "api/docs.html", context)


def _readable(operation: dict[str, Any]) -> dict[str, Any]:
    bodies = operation.get("requestBody", {}).get("content", {}).values()
    answers = [
        (status, response.get("description", ""), _name(_content(response)))
        for status, response in operation["responses"].items()
        if status < "400"
    ]
    problems = [
        line.split("`")[1]
        for status, response in operation["responses"].items()
        if status >= "400"
        for line in response["description"].split("\n\n")
    ]
    return {
        "id": operation["operationId"],
        "summary": operation.get("description", ""),
        "token": bool(operation.get("security")) and {} not in operation["security"],
        "parameters": operation.get("parameters", []),
        "body": next((_name(body) for body in bodies), ""),
        "answers": answers,
        "problems": problems,
    }


def _content(response: dict[str, Any]) -> dict[str, Any]:
    return next(iter(response.get("content", {}).values()), {})


def _name(content: dict[str, Any]) -> str:
    """Return the name of the schema of some content, or of the list of it."""
    schema = content.get("schema", {})
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref", "")
    return str(reference).rpartition("/")[2]


def _properties(schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return name, type and meaning of each property of a schema."""
    return [
        (name, _type(inner), inner.get("description", ""))
        for name, inner in schema.get("properties", {}).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    for key in ("allOf", "oneOf", "anyOf"):
        if key in schema:
            return " or ".join(_type(inner) for inner in schema[key])
    if "$ref" in schema:
        return _name({"schema": schema})
    kind = schema.get("type", "anything")
    kind = " or ".join(kind) if isinstance(kind, list) else str(kind)
    return f"{kind} ({schema['format']})" if "format" in schema else kind
