"""Landlock: restricts a process to parts of the file system, for good.

It runs inside the jail too, so it needs only Python. Names and numbers are those of
``linux/landlock.h``.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING or __name__ != "landlock":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox.c_library import libc
else:
    from c_library import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1
_PATH_BENEATH = 1
_DONT_LOG = 1  # a bot must not fill the audit log
_PR_SET_NO_NEW_PRIVS = 38

_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
# The rights that each version of the interface added; all known rights are forbidden.
_ACCESS_FS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_ACCESS_NET = {4: 0b11}  # bind and connect, over TCP
_SCOPED = {6: 0b11}  # abstract UNIX sockets and signals to the outside


def version() -> int:
    """Return the version of the kernel's interface, or 0 without Landlock."""
    return max(0, int(libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def restrict(readable: Iterable[int]) -> None:
    """Allow this process and its children to read some directories, and nothing else.

    They may execute no files. Open descriptors stay open.

    Args:
        readable: descriptors of the directories whose content may be read.

    Raises:
        OSError: the kernel has no Landlock, or refused.
    """
    known = version()
    if not known:
        raise OSError(ctypes.get_errno(), "the kernel has no Landlock")
    attributes = struct.pack(
        "=QQQ", _up_to(known, _ACCESS_FS), _up_to(known, _ACCESS_NET), _up_to(known, _SCOPED)
    )
    length = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = _checked(
        libc().syscall(_CREATE_RULESET, attributes[:length], ctypes.c_size_t(length), 0)
    )
    for directory in readable:
        rule = struct.pack("=Qi", _READ_FILE | _READ_DIR, directory)
        _checked(libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    _checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc().syscall(_RESTRICT_SELF, ruleset, _DONT_LOG if known >= 7 else 0))
    os.close(ruleset)


def _up_to(known: int, added: dict[int, int]) -> int:
    return sum(bits for since, bits in added.items() if since <= known)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
