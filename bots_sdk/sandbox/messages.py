"""Messages to and from the harness. Messages from the harness are checked: it runs the bot."""

import json
import marshal
from typing import Any, NoReturn

from bots_sdk.sandbox.errors import BotCrashError, BotMemoryError, BotTimeoutError
from bots_sdk.sandbox.limits import Limits
from engine.errors import quote

FOREIGN_DATA = (
    "the bot's process sent other data on the channel for moves; return the move from choose, and "
    "write to no file descriptor"
)
"""The reason of a fault: the bot wrote to the descriptor of the harness's messages."""

_COPIES = 2
"""The format of marshal in which an object that is used twice becomes two, as in JSON."""


def framed(request: dict[str, Any]) -> bytes:
    """Return a request as the harness reads it: its length in four bytes, then its data.

    The data are in the format of Python's `marshal`: the harness reads it four times as fast as
    JSON, and trusts the referee. Both run the same Python.
    """
    data = marshal.dumps(request, _COPIES)
    return len(data).to_bytes(4, "little") + data


def parsed(line: bytes) -> dict[str, Any]:
    """Return the message in a line.

    Raises:
        BotCrashError: the line is not an object in strict JSON.
    """
    try:
        message = _DECODER.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise BotCrashError(f"{FOREIGN_DATA} ({quote(str(error))})") from None
    if not isinstance(message, dict):
        raise BotCrashError(FOREIGN_DATA)
    return message


def failure(answer: dict[str, Any], limits: Limits) -> BotCrashError | BotTimeoutError:
    """Return the fault in an answer of the harness."""
    reason = answer["failed"] if isinstance(answer["failed"], str) else "it failed"
    line = " ".join(reason.split())[:300]
    if answer["kind"] == "memory":
        megabytes = limits.most_bytes >> 20
        return BotMemoryError(f"it needed more than its {megabytes} MB of memory: {line}")
    return BotTimeoutError(line) if answer["kind"] == "timeout" else BotCrashError(line)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_without_repeats)
