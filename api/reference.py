"""The OpenAPI schema as the page of the API's reference shows it: calls, objects, types."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from api.examples.samples import ADDRESS
from api.examples.stored import pretty

Schema = dict[str, Any]
_WIDTH = 72
"""Columns of an example's answer."""
_PREFIX = "#/components/schemas/"
_PAGE = {"results", "next", "previous"}
_FORMATS = {
    "date-time": "time in ISO 8601, UTC",
    "binary": "file",
    "uri": "address",
    "uri-reference": "address",
}


@dataclass(frozen=True)
class Field:
    """A parameter of a call, or a field of an object.

    Attributes:
        name: its name.
        kind: its type, with links to objects.
        notes: for example ``required``; may be empty.
        meaning: paragraphs of text, and for a bounded number its limits.
    """

    name: str
    kind: SafeString
    notes: str
    meaning: SafeString


@dataclass(frozen=True)
class Call:
    """A call of the API.

    Attributes:
        id: the operation's id.
        method: HTTP method.
        path: with parameters in braces.
        text: paragraphs that describe the call and the token that it needs.
        parameters: in path, query and headers.
        body: fields of the request's body.
        answers: status and content of each successful answer.
        problems: codes of the problems.
        tokens: the tokens of which the call needs one, in words.
        samples: the example's request as code, by language.
        status: of the example's answer; 0 without an example.
        answer: the example's answer as text; empty without one.
    """

    id: str
    method: str
    path: str
    text: SafeString
    parameters: list[Field]
    body: list[Field]
    answers: list[tuple[str, SafeString]]
    problems: list[str]
    tokens: str
    samples: dict[str, str]
    status: int
    answer: str


@dataclass(frozen=True)
class Object:
    """A JSON object.

    Attributes:
        name: of the schema.
        text: paragraphs that describe it.
        fields: of the object.
    """

    name: str
    text: SafeString
    fields: list[Field]


class Reference:
    """Reads calls and objects from an OpenAPI document."""

    def __init__(self, document: Schema, address: str = ADDRESS) -> None:
        """Read a document.

        Args:
            document: the schema.
            address: of the league for code, without a slash at the end.
        """
        self._address = address
        self._paths: Schema = document["paths"]
        self._schemas: Schema = document["components"]["schemas"]

    def calls(self) -> dict[str, list[Call]]:
        """Return the calls by subject."""
        found: dict[str, list[Call]] = {}
        for path, methods in self._paths.items():
            for method, operation in methods.items():
                call = self._call(path, method, operation)
                found.setdefault(operation["tags"][0], []).append(call)
        return found

    def objects(self) -> list[Object]:
        """Return the objects by name; a list's page and an enumeration are none."""
        return [
            Object(name, paragraphs(schema.get("description", "")), self._fields(schema))
            for name, schema in sorted(self._schemas.items())
            if "properties" in schema and not _is_page(schema)
        ]

    def _call(self, path: str, method: str, operation: Schema) -> Call:
        content = operation.get("requestBody", {}).get("content", {})
        body: Schema = next((each["schema"] for each in content.values()), {})
        return Call(
            operation["operationId"],
            method.upper(),
            path,
            paragraphs(operation.get("description", "")),
            [self._parameter(each) for each in operation.get("parameters", [])],
            self._fields(self._resolved(body)),
            [
                (status, self._answer(response))
                for status, response in operation["responses"].items()
                if status < "300"
            ],
            problem_codes(operation),
            _tokens(operation["x-token"]),
            {
                each["label"]: each["source"].replace(ADDRESS, self._address)
                for each in operation.get("x-codeSamples", [])
            },
            *_example_answer(operation["responses"]),
        )

    def _parameter(self, parameter: Schema) -> Field:
        place = {"path": "in the path", "query": "in the query", "header": "header"}
        required = ", required" if parameter.get("required") else ""
        schema = parameter["schema"]
        return Field(
            parameter["name"],
            self._kind(schema),
            place[parameter["in"]] + required,
            _meaning(parameter.get("description", ""), schema),
        )

    def _fields(self, schema: Schema) -> list[Field]:
        required = schema.get("required", [])
        return [
            Field(
                name,
                self._kind(inner),
                "" if name in required else "optional",
                _meaning(inner.get("description", ""), inner),
            )
            for name, inner in schema.get("properties", {}).items()
        ]

    def _answer(self, response: Schema) -> SafeString:
        content = response.get("content", {})
        parts = [paragraphs(response.get("description", ""))]
        for media_type, each in content.items():
            kind = self._kind(each.get("schema", {}))
            note = "" if media_type == "application/json" else f" as {media_type}"
            parts.append(format_html("{}{}", kind, note))
        return mark_safe(" ".join(filter(None, parts)))

    def _resolved(self, schema: Schema) -> Schema:
        """Return the schema that a reference names, or the schema itself."""
        name = schema.get("$ref", "").removeprefix(_PREFIX)
        resolved: Schema = self._schemas[name] if name else schema
        return resolved

    def _kind(self, schema: Schema) -> SafeString:
        """Return the type of a value, with a link for each object."""
        if "$ref" in schema:
            return self._named(schema["$ref"].removeprefix(_PREFIX))
        if "enum" in schema:
            return _one_of(schema["enum"])
        if "items" in schema:
            return format_html("list of {}", self._kind(schema["items"]))
        for key in ("allOf", "oneOf", "anyOf"):
            if key in schema:
                return _alternatives([self._kind(inner) for inner in schema[key]])
        kinds = schema.get("type", "any JSON value")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        text = _FORMATS.get(schema.get("format", ""), "")
        return _alternatives(
            [format_html("{}", text if text and kind == "string" else kind) for kind in kinds]
        )

    def _named(self, name: str) -> SafeString:
        schema = self._schemas[name]
        if _is_page(schema):
            return format_html("page of {}", self._kind(schema["properties"]["results"]["items"]))
        if "properties" not in schema:
            return self._kind(schema)
        return format_html('<a href="#object-{}">{}</a>', name, name)


def _tokens(kinds: list[str]) -> str:
    words = {"owner": "owner token", "bot": "bot token", "organiser": "organiser's token"}
    return " or ".join(words[kind] for kind in kinds) or "no token"


def _example_answer(responses: Schema) -> tuple[int, str]:
    """Return the status and the text of the example among the answers of a call."""
    for status, response in responses.items():
        for content in response.get("content", {}).values():
            if "example" in content:
                answer = content["example"]
                text = answer if isinstance(answer, str) else pretty(answer, width=_WIDTH)
                return int(status), text
    return next((int(status) for status in responses if status == "204"), 0), ""


def common_problems(calls: Collection[Call]) -> list[str]:
    """Return the codes of problems that nine of ten calls share, so that a page lists them once."""
    counts = Counter(code for call in calls for code in call.problems)
    return [code for code, count in counts.items() if count >= 0.9 * len(calls)]


def problem_codes(operation: Schema) -> list[str]:
    """Return the codes of the problems that an operation of the schema lists."""
    return [
        code
        for status, response in operation["responses"].items()
        if status >= "400"
        for code in re.findall(r"^`([a-z-]+)`:", response["description"], re.MULTILINE)
    ]


def paragraphs(text: str) -> SafeString:
    """Return a text as HTML paragraphs; text in backticks becomes code."""
    # drf-spectacular appends the values of an enumeration as a list.
    lines = [line for line in text.split("\n") if not line.startswith("* `")]
    parts = [part for part in "\n".join(lines).strip().split("\n\n") if part]
    return format_html_join("", "<p>{}</p>", ((_code(part),) for part in parts))


_RANGES = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
"""Keywords of the schema for the bounds of a value, and what they count."""


def _meaning(text: str, schema: Schema) -> SafeString:
    bounds = []
    for each in (schema, schema.get("items", {})):
        bounds += [_range(each.get(low), each.get(high), of) for low, high, of in _RANGES]
        if "pattern" in each:
            bounds.append(f"Pattern: `{each['pattern']}`.")
    if "default" in schema:
        bounds.append(f"Default: `{json.dumps(schema['default'])}`.")
    # drf-spectacular appends the values of an enumeration as a list.
    text, marker, values = text.partition("\n\n* `")
    return paragraphs(" ".join(filter(None, [text, *bounds])) + marker + values)


def _range(low: float | None, high: float | None, of: str) -> str:
    """Return a sentence on the bounds of a value; empty if it has none."""
    # The database's bounds of ids mean nothing to a reader.
    high = None if high is not None and high >= 2**31 - 1 else high
    if low is not None and high is not None:
        return f"From {low} to {high}{of}."
    if low is not None:
        return f"At least {low}{of}."
    return "" if high is None else f"At most {high}{of}."


def _code(text: str) -> SafeString:
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


def _one_of(values: Iterable[Any]) -> SafeString:
    return _alternatives(
        [format_html("<code>{}</code>", "null" if each is None else each) for each in values]
    )


def _alternatives(kinds: Iterable[SafeString]) -> SafeString:
    return mark_safe(" or ".join(dict.fromkeys(kinds)))


def _is_page(schema: Schema) -> bool:
    return {*schema.get("properties", {})} == _PAGE
