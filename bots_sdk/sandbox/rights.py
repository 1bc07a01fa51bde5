"""The rights of a process in the jail: given up here, for good.

It runs inside the jail too, so it needs only Python.
"""

import ctypes
import os
import signal
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING or __name__ != "rights":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox.c_library import libc
else:
    from c_library import libc

_SET_DEATH_SIGNAL, _SET_DUMPABLE = 1, 4
_CAPABILITIES_VERSION = 0x2008_0522


def die_with_parent(parent: int | None) -> None:
    """Let the kernel kill this process when its parent ends.

    A change of the user undoes this.

    Args:
        parent: the process id of the parent; None if another process watches over the parent.

    Raises:
        OSError: the kernel refused, or the parent has ended already.
    """
    _checked(libc().prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
    if parent not in (None, os.getppid()):
        raise OSError("the parent process has ended")


def set_dumpable(dumpable: bool) -> None:
    """Allow or forbid other processes of this user to read this process's memory.

    Without this right there are no core dumps either. A change of the user forbids it.

    Raises:
        OSError: the kernel refused.
    """
    _checked(libc().prctl(_SET_DUMPABLE, int(dumpable), 0, 0, 0))


def drop_capabilities() -> None:
    """Give up all capabilities, the parts of root's rights.

    Raises:
        OSError: the kernel refused.
    """
    this_process = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    _checked(libc().capset(this_process, bytes(24)))


def _checked(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"the kernel refused: {os.strerror(number)}")
