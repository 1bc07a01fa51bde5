"""The calls of the API, from its schema, and wrong requests for them."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote

from benchmarks.fuzzing.values import BODIES, HEADERS, IN_PATHS, JSON_VALUES, NASTY

JSON = "application/json"
_LONG_WAITS = ("wait",)
"""Parameters whose valid values keep a request waiting."""


class Call(NamedTuple):
    """An operation of the API."""

    name: str
    method: str
    path: str
    parameters: Sequence[Mapping[str, Any]]
    body: Mapping[str, Any]
    kind: str


class Sent(NamedTuple):
    """A request to send."""

    method: str
    path: str
    query: list[tuple[str, str]]
    body: bytes
    kind: str
    headers: Mapping[str, str] = {}


def calls_of(schema: Mapping[str, Any]) -> list[Call]:
    """Return the operations of an OpenAPI document."""
    found = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            content = operation.get("requestBody", {}).get("content", {})
            nothing: tuple[str, dict[str, Any]] = ("", {})
            kind, media = next(iter(content.items()), nothing)
            body = _resolved(schema, media.get("schema", {}))
            parameters = [*methods.get("parameters", []), *operation.get("parameters", [])]
            found.append(
                Call(operation["operationId"], method.upper(), path, parameters, body, kind)
            )
    return found


def wrong_requests(
    call: Call, ids: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> Iterator[Sent]:
    """Yield wrong requests for a call, and some right ones.

    Args:
        call: the call.
        ids: names and numbers of rows that exist, by the name of the path's parameter.
        count: wrong values for each place.
        rng: chooses among the values.
    """
    fields = [p["name"] for p in call.parameters if p["in"] == "path"]
    queries = [p["name"] for p in call.parameters if p["in"] == "query"]

    def path(**replaced: str) -> str:
        given = {name: quote(rng.choice(ids.get(name) or ["1"])) for name in fields}
        return call.path.format(**{**given, **replaced})

    body = json.dumps(example(call.body, ids, rng)).encode() if call.body else b""
    kind = JSON if call.body else ""
    yield Sent(call.method, path(), [], body, kind)
    for name in fields:
        for value in rng.sample(IN_PATHS, min(count, len(IN_PATHS))):
            yield Sent(call.method, path(**{name: value}), [], body, kind)
    for name in queries:
        for value in rng.sample(NASTY, min(count, len(NASTY))):
            if name not in _LONG_WAITS or not value.isdigit() or int(value[:3]) > 30:
                yield Sent(call.method, path(), [(name, value)], body, kind)
        yield Sent(call.method, path(), [(name, "a"), (name, "b")], body, kind)
    yield Sent(call.method, path(), [("unknown", "1")], body, kind)
    for headers in rng.sample(HEADERS, min(count, len(HEADERS))):
        yield Sent(call.method, path(), [], body, kind, headers)
    if call.method in ("POST", "PUT", "PATCH"):
        for raw, raw_kind in BODIES:
            yield Sent(call.method, path(), [], raw, raw_kind)
        for changed in _wrong_bodies(call.body, ids, count, rng):
            yield Sent(call.method, path(), [], json.dumps(changed).encode(), JSON)


def _wrong_bodies(
    schema: Mapping[str, Any], ids: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> Iterator[Any]:
    properties = schema.get("properties", {})
    for name in properties:
        usual = example(schema, ids, rng)
        values = [*JSON_VALUES, *NASTY, *chain.from_iterable(ids.values())]
        for value in rng.sample(values, min(count, len(values))):
            yield {**usual, name: value}
        usual.pop(name, None)
        yield usual
    yield {**example(schema, ids, rng), "unknown": 1}
    yield {name: rng.choice(JSON_VALUES) for name in properties}
    yield {name: rng.choice(NASTY) for name in properties}


def example(
    schema: Mapping[str, Any], ids: Mapping[str, Sequence[str]], rng: random.Random
) -> dict[str, Any]:
    """Return a body that fits a schema, with names and ids of rows that exist."""
    return {
        name: _example_value(name, each, ids, rng)
        for name, each in schema.get("properties", {}).items()
        if name in schema.get("required", ()) or rng.random() < 0.5
    }


def _example_value(
    name: str, schema: Mapping[str, Any], ids: Mapping[str, Sequence[str]], rng: random.Random
) -> Any:
    if name in ids:
        return rng.choice(ids[name])
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "default" in schema:
        return schema["default"]
    match schema.get("type"):
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return rng.random() < 0.5
        case "array":
            items = schema.get("items", {})
            return [_example_value(name, items, ids, rng) for _ in range(schema.get("minItems", 1))]
        case "object":
            return example(schema, ids, rng)
    if schema.get("format") == "date-time":
        return "2030-01-01T00:00:00Z"
    return f"fuzz-{rng.randrange(10**6)}"


def _resolved(schema: Mapping[str, Any], part: Any, depth: int = 6) -> Any:
    """Return a part of the document with its references replaced."""
    if isinstance(part, list):
        return [_resolved(schema, each, depth) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part and depth:
        found: Any = schema
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return _resolved(schema, found, depth - 1)
    if len(part.get("allOf", ())) == 1:
        return _resolved(schema, part["allOf"][0], depth)
    return {name: _resolved(schema, each, depth) for name, each in part.items()}
