"""Makes calls at a league, and keeps the first request and answer of each call as its example."""

import json
import math
import re
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from api.examples.stored import Example
from api.schema import openapi_schema
from tests.api.conftest import Api
from tests.api.play.sites import Site

TOKENS = {"owner", "bot", "organiser"}
_GATEWAY = {
    *("turns_list", "turns_stream", "matches_events", "matches_events_of_several"),
    *("matches_move", "moves_create"),
}
"""The gateway's calls."""
_OBJECTS, _SCALARS = 3, 14
"""Longest lists in an answer: of objects or lists, and of texts or numbers."""
_LINES, _LINE = 6, 400
"""Most lines of an answer that is text, and the most characters of a line."""


class Recorder:
    """Makes calls and keeps their examples.

    Attributes:
        examples: by call, in the order of the calls.
        tokens: the token to send, by its kind.
    """

    def __init__(self, api: Api, site: Site) -> None:
        self._api, self._site = api, site
        self._places = {
            operation["operationId"]: (method.upper(), path)
            for path, methods in openapi_schema()["paths"].items()
            for method, operation in methods.items()
        }
        self.examples: dict[str, Example] = {}
        self.tokens: dict[str, str] = {}

    def call(
        self,
        name: str,
        token: str = "none",
        /,
        *,
        query: dict[str, str | int] | None = None,
        body: Any = None,
        form: dict[str, str] | None = None,
        **path: str | int,
    ) -> Any:
        """Make a call that must succeed, and return its answer.

        Args:
            name: the call's id in the schema.
            token: the kind of the token to send.
            query: query parameters.
            body: the JSON body.
            form: the fields of a form, with the text of the file `source`.
            path: parameters in the path.
        """
        send = self._play if name in _GATEWAY else self._send
        example = send(name, token, query or {}, body, form or {}, path)
        assert example.status < 300, f"{name}: {example.answer}"
        self.examples.setdefault(name, _shortened(example))
        return example.answer

    def _send(
        self, name: str, token: str, query: Any, body: Any, form: dict[str, str], path: Any
    ) -> Example:
        method, pattern = self._places[name]
        headers = {"Authorization": f"Bearer {self.tokens[token]}"} if token in TOKENS else {}
        url = pattern.format(**path)
        if query:
            url += "?" + "&".join(f"{key}={value}" for key, value in query.items())
        if form:
            files = {"source": SimpleUploadedFile("bot.py", form["source"].encode())}
            response = self._api.client.post(url, {**form, **files}, headers=headers)
        else:
            response = self._api.call(method, url, body, **headers)
        content = response.getvalue()
        media_type = response.headers.get("Content-Type", "").partition(";")[0] if content else ""
        is_json = media_type in ("application/json", "application/problem+json")
        answer = json.loads(content) if is_json else content.decode() or None
        return Example(
            *(token, path, query, body, form, response.status_code, media_type),
            *(response.headers.get("Location", ""), answer),
        )

    def _play(self, name: str, token: str, query: Any, body: Any, form: Any, path: Any) -> Example:
        method, pattern = self._places[name]
        url = pattern.format(**path).removeprefix("/api/v1")
        headers = {"Authorization": f"Bearer {self.tokens[token]}"} if token in TOKENS else {}
        with self._site.client.stream(
            method, url, params=query, headers=headers, json=body
        ) as response:
            media_type = response.headers["content-type"].partition(";")[0]
            if media_type == "application/json":
                answer = json.loads(response.read())
            else:
                lines = []
                for line in response.iter_lines():
                    lines.append(line)
                    if len(lines) >= _LINES:
                        break
                answer = "\n".join(lines) + "\n"
            return Example(
                token, path, query, body, form, response.status_code, media_type, "", answer
            )


def _shortened(example: Example) -> Example:
    members = {**example.__dict__, "answer": _cut(example.answer)}
    return Example(**members)


def _cut(value: Any) -> Any:
    """Return an answer without the rest of its long lists, and of its long text."""
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    if isinstance(value, list):
        most = _OBJECTS if any(isinstance(each, dict | list) for each in value) else _SCALARS
        return [_cut(each) for each in value[:most]]
    if isinstance(value, str) and "\n" in value:
        lines = value.split("\n")[:_LINES]
        return "\n".join(line if len(line) <= _LINE else f"{line[:_LINE]}..." for line in lines)
    return value


_KINDS = [
    re.compile(pattern)
    for pattern in (
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z",  # a time
        r"tn_[ob]_[\w-]{43}",  # a token
        r"tn_[ob]_[\w-]{1,12}…?",  # the beginning of a token
        r"[0-9a-f]{64}",  # a seed or a commitment of a moment without fixed seeds
        r"[0-9a-f]{24}",  # the id of a request
    )
]
_VARYING_NUMBERS = {"remaining_ms"}
"""Keys of numbers that differ from run to run."""
_CURSORS = {"next", "previous"}
"""Keys of texts with cursors in them."""


def is_same(stored: Any, now: Any, key: str = "") -> bool:
    """Return whether two examples are the same but for times, tokens and cursors."""
    if isinstance(stored, dict) and isinstance(now, dict):
        return stored.keys() == now.keys() and all(
            is_same(stored[name], now[name], name) for name in stored
        )
    if isinstance(stored, list) and isinstance(now, list):
        return len(stored) == len(now) and all(
            is_same(one, other, key) for one, other in zip(stored, now, strict=True)
        )
    if type(stored) in (int, float) and type(now) in (int, float):
        # Sums of floats differ between machines in their last digits.
        return key in _VARYING_NUMBERS or math.isclose(stored, now, rel_tol=1e-6)
    if isinstance(stored, str) and isinstance(now, str):
        if any(kind.fullmatch(stored) and kind.fullmatch(now) for kind in _KINDS):
            return True
        if "\n" in stored:
            lines, others = (list(map(_blurred, text.split("\n"))) for text in (stored, now))
            return lines == others
        if key in _CURSORS:
            return _blurred(stored) == _blurred(now)
    return bool(stored == now)


def _blurred(text: str) -> str:
    """Return a line without its times, tokens, numbers and cursors, nor where it was cut."""
    text = re.sub(r"(?<=cursor=)[\w%=-]+", "C", text)
    for kind in _KINDS[:2]:
        text = kind.sub("K", text)
    text = re.sub(r"\d+", "0", text)
    return text[: _LINE // 2] if text.endswith("...") else text
