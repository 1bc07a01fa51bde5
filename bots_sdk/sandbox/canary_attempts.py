"""The register of the canary's attempts, and the helpers that they share."""

import os
from collections.abc import Callable
from typing import Any

from bots_sdk.sandbox.canary_calls import system_call

Plants = dict[str, Any]
Attempt = Callable[[Plants], object]

ATTEMPTS: dict[str, Attempt] = {}
ONLY_ROOT = {
    *("bpf", "chroot", "fanotify_init", "fsopen", "fspick", "lease", "mount", "open_by_handle_at"),
    *("perf_event_open", "root", "setuid", "syslog"),
}
"""Attempts that need root to get through without a jail."""

READ, WRITE, EXECUTE = 1, 2, 4
_PRIVATE_ANONYMOUS = 0x22


def attempt(function: Attempt) -> Attempt:
    """Register a function as an attempt."""
    ATTEMPTS[function.__name__] = function
    return function


def map_memory(
    length: int, protection: int, flags: int = _PRIVATE_ANONYMOUS, file: int = -1
) -> int:
    """Return the address of new memory, or 0."""
    address, _ = system_call((9, 222), 0, length, protection, flags, file, 0)
    return 0 if address == -1 else address


def library() -> int:
    """Return an open descriptor of a file that all bots can read."""
    return os.open(os.__file__, os.O_RDONLY)
