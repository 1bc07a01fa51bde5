"""The calls against the league's own schema: none is missing, none is made up."""

import inspect
import re
from typing import Any

from bots_sdk import calls
from bots_sdk.calls import Call, Stream

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


def described() -> set[tuple[str, str]]:
    """Return method and path of all calls."""
    found = set()
    for name, function in inspect.getmembers(calls, inspect.isfunction):
        if name.startswith("_") or function.__module__ != calls.__name__:
            continue
        wanted = inspect.signature(function).parameters
        given = {
            key: ARGUMENTS.get(key, "x")
            for key, parameter in wanted.items()
            if parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
        }
        call = function(**given)
        assert isinstance(call, Call | Stream), name
        method = call.method if isinstance(call, Call) else "GET"
        parts = ["{}" if part in ("x", "1") else part for part in call.path.split("/")]
        found.add((method, "/".join(parts)))
    return found


def test_every_call_of_the_schema_is_described_and_no_other() -> None:
    from drf_spectacular.generators import SchemaGenerator

    schema: Any = SchemaGenerator().get_schema(request=None, public=True)
    there = {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1/")))
        for path, methods in schema["paths"].items()
        for method in methods
        if method in ("get", "post", "put", "patch", "delete")
    }
    there = {(method, path) for method, path in there if not path.startswith(("schema", "docs"))}
    assert there - described() == set()
    assert described() - there == set()
