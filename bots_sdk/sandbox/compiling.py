"""Compiles a bot's file in the jail, and sends its code to the worker before it runs.

It runs inside the jail, so it needs only Python. `kept_code` keeps the code outside.
"""

import marshal
import os
from collections.abc import Callable
from contextlib import suppress
from types import CodeType

LENGTH = b"%8d"
"""The form in which the length of code is sent, before the code."""
MAX_BYTES = 1 << 20
"""The longest code that is sent."""
FILE_NAME = "bot.py"

Keep = Callable[[bytes], None]


def code_of(source: bytes, kept: bytes, keep: Keep | None) -> CodeType:
    """Return the code of a bot's Python file.

    Args:
        source: the content of the file.
        kept: its code from an earlier process; empty to compile the file.
        keep: receives the code, or nothing if the file can't be compiled.

    Raises:
        Exception: the file can't be compiled; it is what `compile` raises.
    """
    if kept:
        with suppress(EOFError, TypeError, ValueError):  # another Python made it
            found: CodeType = marshal.loads(kept)
            return found
    data = b""
    try:
        compiled: CodeType = compile(source, FILE_NAME, "exec", dont_inherit=True)
        if keep:
            data = marshal.dumps(compiled)
    finally:
        if keep:
            keep(data)
    return compiled


def send(answers: int, code: bytes) -> None:
    """Send code to the referee; nothing of it if it is too long."""
    if len(code) > MAX_BYTES:
        code = b""
    write(answers, LENGTH % len(code) + code)


def write(descriptor: int, data: bytes) -> None:
    """Write all of some data."""
    while data:
        data = data[os.write(descriptor, data) :]
