"""The stored examples: one file for each subject, with an example for each call."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent / "calls"
_WIDTH = 100
JSON_WORDS: Mapping[Any, str] = {True: "true", False: "false", None: "null"}
PYTHON_WORDS: Mapping[Any, str] = {True: "True", False: "False", None: "None"}


@dataclass(frozen=True)
class Example:
    """A request that succeeded, and its answer.

    Attributes:
        token: the token that the request sent: ``none``, ``owner``, ``bot`` or ``organiser``.
        path: values of the parameters in the path.
        query: values of the query parameters.
        body: the JSON body; None without one.
        form: the fields of a form; the value of ``source`` is the text of a file.
        status: of the answer.
        media_type: of the answer; empty without a body.
        location: the header ``Location`` of the answer; empty without one.
        answer: JSON value, or text if the media type is not JSON. Long lists are cut.
    """

    token: str
    path: dict[str, str | int] = field(default_factory=dict)
    query: dict[str, str | int] = field(default_factory=dict)
    body: Any = None
    form: dict[str, str] = field(default_factory=dict)
    status: int = 200
    media_type: str = ""
    location: str = ""
    answer: Any = None


@cache
def stored_examples() -> dict[str, Example]:
    """Return the stored examples by the ids of their calls."""
    return {
        call: Example(**members)
        for file in sorted(DIRECTORY.glob("*.json"))
        for call, members in json.loads(file.read_text("utf-8")).items()
    }


def as_text(subject: dict[str, Example]) -> str:
    """Return the text of a subject's file; members with their default value are left out."""
    members = {
        call: {
            name: value
            for name, value in asdict(example).items()
            if name == "token" or value != asdict(Example(""))[name]
        }
        for call, example in subject.items()
    }
    return pretty(members) + "\n"


def pretty(
    value: Any,
    indent: int = 0,
    *,
    width: int = _WIDTH,
    key: int = 0,
    step: int = 2,
    words: Mapping[Any, str] = JSON_WORDS,
) -> str:
    """Return a JSON value as text, each list or object on one line if it fits.

    Args:
        value: the JSON value.
        indent: columns to the left of its lines.
        width: the columns of a line.
        key: columns that the value's key takes on its first line.
        step: columns by which inner lines are indented.
        words: the words for true, false and null.
    """
    if not isinstance(value, dict | list):
        is_word = value is None or isinstance(value, bool)
        return words[value] if is_word else json.dumps(value, ensure_ascii=False)

    def part(name: str | None, each: Any, at: int, room: int) -> str:
        start = "" if name is None else f"{json.dumps(name)}: "
        inner = pretty(each, at, width=room, key=len(start), step=step, words=words)
        return start + inner

    items = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    flat = ", ".join(part(name, each, 0, sys.maxsize) for name, each in items)
    if not value or indent + key + len(flat) + 2 < width:
        return f"{opening}{flat}{closing}"
    inner = "\n" + " " * (indent + step)
    lines = f",{inner}".join(part(name, each, indent + step, width) for name, each in items)
    return f"{opening}{inner}{lines}\n{' ' * indent}{closing}"
