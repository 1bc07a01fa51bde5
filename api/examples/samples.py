"""An example's request as a command of curl and as Python, for a league at an address."""

import shlex
from typing import Any
from urllib.parse import urlencode

from api.examples.stored import PYTHON_WORDS, Example, pretty

ADDRESS = "http://127.0.0.1:8000"
"""The address of a league that runs on the reader's machine."""
FILE = "bot.py"

_VARIABLES = {"owner": "OWNER_TOKEN", "bot": "BOT_TOKEN", "organiser": "ORGANISER_TOKEN"}
"""By token, the variable of the reader's shell that has it."""
_STREAM = "text/event-stream"
_WIDTH = 80
_TIMEOUT = 40


def path_of(pattern: str, example: Example) -> str:
    """Return the path of an example's request, with its query."""
    query = urlencode(example.query)
    return pattern.format(**example.path) + (f"?{query}" if query else "")


def curl(method: str, pattern: str, example: Example, address: str = ADDRESS) -> str:
    """Return a command of curl that sends an example's request.

    Args:
        method: HTTP method.
        pattern: of the path, with parameters in braces.
        example: the example.
        address: of the league, without a slash at the end.
    """
    sends = example.body is not None or example.form
    options = []
    if method != ("POST" if sends else "GET"):
        options.append(f"-X {method}")
    if example.media_type == _STREAM:
        options.append("-N")
    first = " ".join(["curl", *options, shlex.quote(address + path_of(pattern, example))])
    lines = [first]
    if example.token in _VARIABLES:
        lines.append(f'-H "Authorization: Bearer ${_VARIABLES[example.token]}"')
    if example.body is not None:
        lines.append(f"--json {shlex.quote(pretty(example.body, width=_WIDTH - 12))}")
    for name, value in example.form.items():
        text = f"{name}=@{FILE}" if name == "source" else f"{name}={value}"
        lines.append(f"-F {shlex.quote(text)}")
    return " \\\n  ".join(lines)


def python(method: str, pattern: str, example: Example, address: str = ADDRESS) -> str:
    """Return Python that sends an example's request with httpx.

    Args:
        method: HTTP method.
        pattern: of the path, with parameters in braces.
        example: the example.
        address: of the league, without a slash at the end.
    """
    arguments = [_literal(address + pattern.format(**example.path))]
    if example.query:
        arguments.append(f"params={_literal(example.query)}")
    if example.token in _VARIABLES:
        token = f"os.environ['{_VARIABLES[example.token]}']"
        arguments.append(f'headers={{"Authorization": f"Bearer {{{token}}}"}}')
    if example.body is not None:
        arguments.append(f"json={_literal(example.body)}")
    form = {name: value for name, value in example.form.items() if name != "source"}
    if form:
        arguments.append(f"data={_literal(form)}")
    if example.form:
        arguments.append(f'files={{"source": ("{FILE}", Path("{FILE}").read_bytes())}}')
    streams = example.media_type == _STREAM
    if streams or "wait" in example.query:
        arguments.append(f"timeout={_TIMEOUT}")
    imports = ["import os"] if example.token in _VARIABLES else []
    imports += ["from pathlib import Path"] if example.form else []
    imports += ["", "import httpx", ""] if imports else ["import httpx", ""]
    if streams:
        call = _call("httpx.stream", [f'"{method}"', *arguments])
        loop = "    for line in answer.iter_lines():\n        print(line)"
        return "\n".join([*imports, f"with {call} as answer:", loop])
    shown = {"application/json": "json()", "": "status_code"}.get(example.media_type, "text")
    call = _call(f"httpx.{method.lower()}", arguments)
    return "\n".join([*imports, f"answer = {call}", f"print(answer.{shown})"])


def _call(function: str, arguments: list[str]) -> str:
    flat = f"{function}({', '.join(arguments)})"
    if len(flat) <= _WIDTH - len("with  as answer:") and "\n" not in flat:
        return flat
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"{function}(\n{lines})"


def _literal(value: Any) -> str:
    """Return a JSON value as Python."""
    return pretty(value, 4, width=_WIDTH, key=len("params="), step=4, words=PYTHON_WORDS)
