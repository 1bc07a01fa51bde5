"""The bodies of moves: read, parsed and checked as those of all other calls.

Nearly all bodies are well-formed, and are recognised at once. `api.strictness` checks the others
with their serializer and finds the errors.
"""

from io import BytesIO
from typing import Any, TypeGuard

from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.utils.mediatypes import media_type_matches

from api.exceptions import as_problem
from api.parsers import JsonParser
from api.serializers.turns import MovesSerializer

_JSON = JsonParser.media_type
_MAX_PLAIN = 40
"""Characters of a move's text; a serializer checks a longer one."""
_parser = JsonParser()


def accepts_json(accept: str) -> bool:
    """Return whether the header ``Accept`` allows JSON; it does if it is empty."""
    return accept in ("", "*/*", _JSON) or any(
        media_type_matches(_JSON, each) for each in accept.split(",")
    )


def parsed(body: bytes, content_type: str) -> Any:
    """Return the value of a JSON body; an empty body is an empty object.

    Raises:
        ProblemError: ``unsupported-media-type`` or ``invalid-json``.
    """
    if not body:
        return {}
    try:
        if content_type != _JSON and not media_type_matches(_JSON, content_type):
            raise UnsupportedMediaType(content_type)
        return _parser.parse(BytesIO(body))
    except (UnsupportedMediaType, ParseError) as error:
        raise as_problem(error) from None


def is_plain_move(sent: object) -> TypeGuard[dict[str, Any]]:
    """Return whether this is a well-formed move in the match of the path."""
    return isinstance(sent, dict) and sent.keys() == {"turn", "move"} and _is_plain(sent)


def is_plain_list(sent: object) -> TypeGuard[dict[str, list[dict[str, Any]]]]:
    """Return whether these are well-formed moves, each with its match, and not too many."""
    moves = sent.get("moves") if isinstance(sent, dict) and len(sent) == 1 else None
    return (
        isinstance(moves, list)
        and len(moves) <= MovesSerializer.MOST
        and all(
            isinstance(each, dict)
            and each.keys() == {"match", "turn", "move"}
            and type(each["match"]) is int
            and 0 < each["match"] < 2**63
            and _is_plain(each)
            for each in moves
        )
    )


def _is_plain(sent: dict[str, Any]) -> bool:
    return (
        type(sent["turn"]) is int
        and 0 <= sent["turn"] < 2**31
        and type(sent["move"]) is str
        and len(sent["move"]) <= _MAX_PLAIN
        and sent["move"].isprintable()
    )
