"""The OpenAPI schema as the page of the API's reference shows it: calls, objects, types."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

Schema = dict[str, Any]
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
    """

    id: str
    method: str
    path: str
    text: SafeString
    parameters: list[Field]
    body: list[Field]
    answers: list[tuple[str, SafeString]]
    problems: list[str]


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

    def __init__(self, document: Schema) -> None:
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


def _meaning(text: str, schema: Schema) -> SafeString:
    bounds = [
        f"{word} {schema[key]}."
        for key, word in (
            ("minimum", "At least"),
            ("maximum", "At most"),
            ("maxLength", "Longest text in characters:"),
            ("default", "Default:"),
        )
        if schema.get(key) is not None and not isinstance(schema[key], bool)
    ]
    return paragraphs(" ".join(filter(None, [text, *bounds])))


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
