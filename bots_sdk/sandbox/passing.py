"""Passes descriptors over a socket, without the module `socket`, which would stay in the bot.

It runs inside the jail too, so it needs only Python.
"""

import ctypes
import errno
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __name__ != "passing":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox.c_library import libc
else:
    from c_library import libc

NOTHING = -1
"""The result if a socket has no message in time."""

_MAX_DESCRIPTORS = 8
_MAX_BYTES = 16
_HEADER, _DESCRIPTOR = struct.Struct("@Nii"), struct.Struct("@i")
_CLOSE_ON_EXEC = 0x4000_0000
_TO_SOCKET, _RIGHTS = 1, 1


def socket_pair() -> tuple[int, int]:
    """Return two connected sockets, which keep messages apart.

    Raises:
        OSError: the kernel refused.
    """
    pair = (ctypes.c_int * 2)()
    unix, messages, close_on_exec = 1, 5, 0o2000000
    if libc().socketpair(unix, messages | close_on_exec, 0, pair):
        raise OSError(ctypes.get_errno(), "no socket to pass descriptors")
    return pair[0], pair[1]


class Sender:
    """Sends some data with a descriptor, in memory that is prepared before."""

    def __init__(self, data: bytes) -> None:
        """Prepare to send."""
        self._control = bytearray(_space(_DESCRIPTOR.size))
        self._message, self._kept = _message(bytearray(data), self._control)
        self._call = libc().sendmsg

    def send(self, channel: int, descriptor: int) -> None:
        """Send the data with a descriptor to a socket.

        Raises:
            OSError: the other end is closed.
        """
        length = _HEADER.size + _DESCRIPTOR.size
        _HEADER.pack_into(self._control, 0, length, _TO_SOCKET, _RIGHTS)
        _DESCRIPTOR.pack_into(self._control, _HEADER.size, descriptor)
        _until_done(self._call, channel, self._message, 0)


def receive(channel: int) -> tuple[bytes, list[int]]:
    """Receive a message; return its data and its descriptors, which a new program can't inherit.

    The data are empty if the other end is closed.

    Raises:
        OSError: the kernel refused.
    """
    receiver = Receiver(channel)
    length = receiver.receive()
    return bytes(receiver.data[: max(length, 0)]), receiver.descriptors() if length > 0 else []


class Receiver:
    """Receives messages in the same memory each time."""

    def __init__(self, channel: int) -> None:
        """Prepare to receive from a socket."""
        self.data = bytearray(_MAX_BYTES)
        self._channel = channel
        self._control = bytearray(_space(4 * _MAX_DESCRIPTORS))
        self._message, self._kept = _message(self.data, self._control)
        self._call = libc().recvmsg
        self._message_bytes = self._message.raw

    def receive(self) -> int:
        """Receive a message; return the length of its data, 0 at the end, or `NOTHING`.

        Raises:
            OSError: the kernel refused.
        """
        self._control[:] = bytes(len(self._control))
        self._message.raw = self._message_bytes  # the kernel has changed lengths in it
        return _until_done(self._call, self._channel, self._message, _CLOSE_ON_EXEC)

    def descriptors(self) -> list[int]:
        """Return the descriptors of the last message."""
        used, level, kind = _HEADER.unpack_from(self._control)
        if (level, kind) != (_TO_SOCKET, _RIGHTS):
            return []
        count = (used - _HEADER.size) // 4
        return list(struct.unpack_from(f"@{count}i", self._control, _HEADER.size))


def _space(length: int) -> int:
    """Return the size of a control message with so many bytes, in whole words."""
    return _HEADER.size + -(-length // 8) * 8


def _message(data: bytearray, control: bytearray) -> tuple[Any, object]:
    """Return a message with one vector of data, and what must live as long as the message."""
    of_data = (ctypes.c_char * len(data)).from_buffer(data)
    of_control = (ctypes.c_char * len(control)).from_buffer(control)
    packed = struct.pack("@PN", ctypes.addressof(of_data), len(data))
    vector = ctypes.create_string_buffer(packed, len(packed))
    packed = struct.pack(
        "@PIPNPNi4x",
        *(0, 0, ctypes.addressof(vector), 1),
        *(ctypes.addressof(of_control), len(control), 0),
    )
    return ctypes.create_string_buffer(packed, len(packed)), (of_data, of_control, vector)


def _until_done(call: Any, channel: int, message: Any, flags: int) -> int:
    """Send or receive a message; return the number of bytes, or `NOTHING`."""
    while (done := int(call(channel, message, flags))) < 0:
        number = ctypes.get_errno()
        if number == errno.EAGAIN:
            return NOTHING
        if number != errno.EINTR:  # otherwise a signal came first
            raise OSError(number, f"passing descriptors: {os.strerror(number)}")
    return done
