"""The compiled code of bots, which a worker keeps so that it is compiled once.

A bot's process compiles the bot's file or module in its jail, and sends the code before any of it
runs (`compiling`). So the code depends on the file alone, and a bot can't leave anything in it for
its next match. The worker only stores the bytes: it neither compiles nor reads them.
"""

import os
from collections import OrderedDict
from hashlib import sha256
from threading import Lock

MAX_BYTES = 8 << 20
"""The most code that a worker keeps; beyond it, the code that was used least recently goes."""
MAX_FILES = 2000
"""The most files whose code it keeps."""

_lock = Lock()
_kept: OrderedDict[bytes, bytes] = OrderedDict()


def find(main: bytes) -> bytes | None:
    """Return the code of a bot's Python file or module, to load in a jail; None if none is kept.

    It is empty if the code is too long to be sent, or if the file can't be compiled.
    """
    key = sha256(main).digest()
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def keep(main: bytes, code: bytes) -> None:
    """Keep the code of a bot's Python file or module."""
    key = sha256(main).digest()
    with _lock:
        _kept[key] = code
        while len(_kept) > MAX_FILES or sum(map(len, _kept.values())) > MAX_BYTES:
            _kept.popitem(last=False)


def _renew_lock() -> None:
    """Replace the lock. If a thread held it at the fork, no thread here would ever release it."""
    global _lock
    _lock = Lock()


os.register_at_fork(after_in_child=_renew_lock)
