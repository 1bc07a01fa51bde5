"""The parser of JSON bodies."""

import json
import math
import re
import sys
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

MAX_DEPTH = 32
"""Lists and objects inside each other; no call needs more than three."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class JsonParser(BaseParser):
    """JSON in UTF-8, by RFC 8259 and with unique names (RFC 7493)."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value of a body.

        Raises:
            ParseError: the body is not JSON, is nested too deeply, has a name twice in an object, a
                number that is too large for a float, or half of a surrogate pair in a text.
        """
        body = stream.read()
        try:
            text = body.decode("utf-8")
            if text.startswith("\ufeff"):
                raise json.JSONDecodeError("Unexpected UTF-8 BOM", text, 0)
            value = _DECODER.decode(text)
            if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
                _check_depth(value, MAX_DEPTH)
            if _SURROGATE.search(body):
                json.dumps(value, ensure_ascii=False).encode()
        except RecursionError:
            raise ParseError(
                f"The body is not valid JSON: it is nested more than {MAX_DEPTH} levels deep."
            ) from None
        except UnicodeEncodeError:
            raise ParseError(
                "The body is not valid JSON: a text has half of a surrogate pair, such as \\ud83c "
                "without \\udf84. Send both halves, or the character itself."
            ) from None
        except ValueError as error:
            raise ParseError(f"The body is not valid JSON: {_what_and_where(error)}.") from None
        return value


def _what_and_where(error: ValueError) -> str:
    """Return what is wrong with a body, with the place if the parser found one."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        what = error.msg.partition(" (")[0].removesuffix(" at")  # without advice for Python
        return f"{what[:1].lower()}{what[1:]} at line {error.lineno}, column {error.colno}"
    if str(error).startswith("Exceeds the limit"):
        return f"a whole number has more than {sys.get_int_max_str_digits()} digits"
    return str(error)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"an object has the name {name[:40]!r} twice")
        found[name] = value
    return found


def _check_depth(value: Any, levels: int) -> None:
    if not isinstance(value, dict | list):
        return
    if not levels:
        raise RecursionError
    for each in value.values() if isinstance(value, dict) else value:
        _check_depth(each, levels - 1)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
