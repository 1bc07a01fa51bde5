"""Namespaces of a bot that a zygote starts in tier 1: its own, inside those of bubblewrap.

Bubblewrap has made the file tree and all namespaces of the zygote. A bot gets its own namespaces
below them, so that it shares none with the zygote or another bot but the one of control groups.

It runs inside the jail, so it needs only Python.
"""

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING or __name__ != "namespaces":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox.c_library import libc
else:
    from c_library import libc

BOT = "/bot"
"""The place of a bot's own files."""
BOTS = "/bots"
"""The place of the files of all bots of the worker, which only the zygote has."""

_MOUNTS, _NAMES, _MESSAGES, _PROCESSES, _NETWORK = (
    0x0002_0000,
    0x0400_0000,
    0x0800_0000,
    0x2000_0000,
    0x4000_0000,
)
_READ_ONLY, _NO_SET_UID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
_REMOUNT, _BIND, _DETACH = 32, 4096, 2


class Processes:
    """Gives each child of this process a new namespace of processes, as its first process."""

    def __init__(self) -> None:
        """Keep the namespace of this process."""
        self._own = os.pidfd_open(os.getpid())
        self._unshare, self._return_to = libc().unshare, libc().setns

    def begin(self) -> None:
        """Let the next child be the first process of a new namespace.

        Raises:
            OSError: the kernel refused.
        """
        _checked(self._unshare(_PROCESSES))

    def end(self) -> None:
        """Let later children share the namespace of this process again.

        Raises:
            OSError: the kernel refused.
        """
        _checked(self._return_to(self._own, _PROCESSES))


def separate(folder: str | None) -> None:
    """Move this process into new namespaces, in which the files of other bots don't exist.

    Args:
        folder: the name of the bot's folder in `BOTS`; None if the bot has no folder.

    Raises:
        OSError: the kernel refused.
    """
    _checked(libc().unshare(_MOUNTS | _NAMES | _MESSAGES | _NETWORK))
    if folder is not None:
        bot, source = BOT.encode(), f"{BOTS}/{folder}".encode()
        _checked(libc().mount(source, bot, None, _BIND, None))
        # All of these flags: a user namespace may not take away one that its parent has set.
        only_reading = _READ_ONLY | _NO_SET_UID | _NO_DEVICES | _NO_PROGRAMS
        _checked(libc().mount(None, bot, None, _REMOUNT | _BIND | only_reading, None))
    _checked(libc().umount2(BOTS.encode(), _DETACH))


def _checked(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"namespaces: {os.strerror(number)}")
