"""The types in ``bots_sdk/answers``: they are those of the OpenAPI schema."""

import inspect
import re
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from api.management.commands.write_sdk_types import DIRECTORY
from api.schema import openapi_schema
from api.typed_answers import modules
from bots_sdk import calls
from bots_sdk.call import Call
from bots_sdk.pages import Page
from tests.bots_sdk.calls.test_calls import sample_call

FUNCTIONS = [
    name
    for name, function in inspect.getmembers(calls, inspect.isfunction)
    if function.__module__.startswith(f"{calls.__name__}.")
]


@pytest.fixture(scope="module")
def schema() -> Any:
    return openapi_schema()


def test_the_committed_types_are_those_that_make_sdk_types_writes(schema: Any) -> None:
    generated = modules(schema)
    committed = {path.name: path.read_text() for path in DIRECTORY.glob("*.py")}
    assert committed == generated, "run `make sdk-types`"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_has_the_type_of_the_answer_in_the_schema(schema: Any, name: str) -> None:
    function = getattr(calls, name)
    call = sample_call(function)
    if not isinstance(call, Call):
        return
    operation = operation_of(schema, call)
    (result,) = get_args(get_type_hints(function)["return"])
    assert spelled(result) == answer_of(schema, operation)


def operation_of(schema: Any, call: Call[Any]) -> Any:
    """Return the schema's operation with the method and path of a call."""
    for path, methods in schema["paths"].items():
        pattern = re.sub(r"\{[^}]*\}", "(x|1)", path.removeprefix("/api/v1/"))
        if re.fullmatch(pattern, call.path) and call.method.lower() in methods:
            return methods[call.method.lower()]
    raise AssertionError(f"{call.method} {call.path} is not in the schema")


def answer_of(schema: Any, operation: Any) -> str:
    """Return the type of a successful answer, as `spelled` writes it."""
    (status,) = (status for status in operation["responses"] if status < "3")
    content = operation["responses"][status].get("content", {})
    if not content:
        return "NoneType"
    if "application/json" not in content:
        return "bytes"
    body = content["application/json"]["schema"]
    if body.get("type") == "array":
        return f"list[{named(body['items'])}]"
    if "$ref" not in body:  # a record: the SDK returns it byte for byte
        return "bytes"
    properties = schema["components"]["schemas"][named(body)]["properties"]
    if properties.keys() == Page.__annotations__.keys():
        assert all(properties[key]["type"] == ["string", "null"] for key in ("next", "previous"))
        return f"Page[{named(properties['results']['items'])}]"
    return named(body)


def named(reference: Any) -> str:
    """Return the name of the component that is referred to."""
    return str(reference["$ref"].rpartition("/")[2])


def spelled(kind: Any) -> str:
    """Return a type as text."""
    arguments = ", ".join(spelled(each) for each in get_args(kind))
    return f"{get_origin(kind).__name__}[{arguments}]" if arguments else str(kind.__name__)
