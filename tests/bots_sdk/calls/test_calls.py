"""The calls of the SDK: exactly those in the league's schema."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from bots_sdk import calls
from bots_sdk.call import Call, Stream

ARGUMENTS: dict[str, Any] = {
    "name": "x",
    "bot": "x",
    "slug": "x",
    "number": 1,
    "match": 1,
    "wait": 0,
    "kind": "remote",
    "bots": ["x"],
    "moves": [],
    "source": b"",
    "limit": None,
    "tournament": None,
}


def sample_call(function: Callable[..., Call[Any] | Stream]) -> Call[Any] | Stream:
    """Return the call that a function of `calls` describes, for sample arguments."""
    wanted = inspect.signature(function).parameters
    given = {
        key: ARGUMENTS.get(key, "x")
        for key, parameter in wanted.items()
        if parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
    }
    return function(**given)


def described() -> set[tuple[str, str]]:
    """Return method and path of all calls."""
    found = set()
    for _, function in inspect.getmembers(calls, inspect.isfunction):
        if not function.__module__.startswith(f"{calls.__name__}."):
            continue
        call = sample_call(function)
        method = call.method if isinstance(call, Call) else "GET"
        parts = ["{}" if part in ("x", "1") else part for part in call.path.split("/")]
        found.add((method, "/".join(parts)))
    return found


def test_the_sdk_has_exactly_the_calls_of_the_schema() -> None:
    # Imported here, so that the other tests of this file run without Django.
    from api.schema import openapi_schema

    schema = openapi_schema()
    there = {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1/")))
        for path, methods in schema["paths"].items()
        for method in methods
        if method in ("get", "post", "put", "patch", "delete")
    }
    there = {(method, path) for method, path in there if not path.startswith(("schema", "docs"))}
    assert there - described() == set()
    assert described() - there == set()
