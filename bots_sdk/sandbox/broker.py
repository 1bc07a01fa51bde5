"""The broker of tier 2: makes a bot's file calls for it, so that it sees its own files only.

Without namespaces no lock of the kernel hides a path: Landlock forbids opening a file, but not
`stat` or `readlink`. So seccomp hands these calls to the broker (``seccomp_unotify(2)``), a process
in the same jail that runs no code of the bot. It answers from a few directories; all other paths
don't exist. No answer contains a time of access, so reading a file leaves no mark for other bots.

The broker reads a path once, from the memory of the bot, and uses only its own copy.
"""

import ctypes
import errno
import fcntl
import os
import platform
import posixpath
import select
import socket
import stat
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from bots_sdk.sandbox import seccomp
else:
    import seccomp

_RECEIVE, _SEND, _ADD_DESCRIPTOR = 0xC050_2100, 0xC018_2101, 0x4018_2103
_SEND_TOO = 2
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_AT_FDCWD, _AT_EMPTY_PATH, _AT_SYMLINK_NOFOLLOW = -100, 0x1000, 0x100
_KEPT_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW
_MAX_PATH = 4096
_PAGE = 4096
_STAT = {"x86_64": "=QQQIIIIQqqqqQqQqQ24x", "aarch64": "=QQIIIIQQqiiqqQqQqQ8x"}


class RefusedError(Exception):
    """A call fails with an error number."""

    def __init__(self, number: int) -> None:
        self.number = number


def start(roots: Mapping[str, int], descriptors: Iterable[int]) -> None:
    """Fork: the parent becomes the broker, and the child, whose calls it answers, returns.

    Args:
        roots: the directories that the child may read: their paths, and open descriptors.
        descriptors: the child's pipes, which the parent closes.

    Raises:
        OSError: the kernel refused.
    """
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    child = os.fork()
    if child:
        theirs.close()
        _serve(child, ours, roots, descriptors)
    ours.close()
    _die_with(parent)
    for handle in roots.values():
        os.close(handle)
    listener = seccomp.install_listener()
    socket.send_fds(theirs, [b"x"], [listener])
    os.close(listener)
    theirs.close()


def _die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends."""
    set_death_signal, sigkill = 1, 9
    ctypes.CDLL(None).prctl(set_death_signal, sigkill, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _serve(
    child: int, ours: socket.socket, roots: Mapping[str, int], descriptors: Iterable[int]
) -> NoReturn:
    """Answer the calls of a child until it ends; then end with its status, as shells do."""
    status = 1
    try:
        for descriptor in descriptors:
            os.close(descriptor)
        handle = os.pidfd_open(child)
        _, listeners, _, _ = socket.recv_fds(ours, 1, 1)
        ours.close()
        if listeners:
            Broker(child, listeners[0], roots).run(handle)
        _, ended = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(ended)
        status = code if code >= 0 else 128 - code
    finally:
        os._exit(status)


class Broker:
    """Answers the file calls of one process."""

    def __init__(self, pid: int, listener: int, roots: Mapping[str, int]) -> None:
        self._pid = pid
        self._listener = listener
        self._roots = roots
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._above = {
            str(parent) for root in roots for parent in _parents(root) if parent not in roots
        }
        calls: dict[str, Callable[..., int]] = {
            "newfstatat": self._stat_at,
            "stat": lambda path, buffer, *_: self._stat_at(_AT_FDCWD, path, buffer, 0),
            "lstat": lambda path, buffer, *_: self._stat_at(
                _AT_FDCWD, path, buffer, _AT_SYMLINK_NOFOLLOW
            ),
            "fstat": lambda number, buffer, *_: self._stat_descriptor(number, buffer),
            "readlink": lambda *rest: self._read_link(_AT_FDCWD, *rest),
            "readlinkat": self._read_link,
            "access": lambda path, mode, *_: self._access(_AT_FDCWD, path, mode),
            "faccessat": self._access,
            "faccessat2": self._access,
        }
        self._opening = seccomp.number("openat")
        self._calls = {seccomp.number(name): call for name, call in calls.items()}

    def run(self, ended: int) -> None:
        """Answer until a descriptor becomes readable, at the end of the process."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(ended, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if ended in ready:
                return
            if ready.get(self._listener, 0) & select.POLLIN:
                self._answer()

    def _answer(self) -> None:
        notification = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, notification)
        except OSError:  # the process was killed meanwhile
            return
        number, _, _, call, _, _, *arguments = _NOTIFICATION.unpack(notification)
        value, error = 0, 0
        try:
            if call == self._opening:
                self._give(number, self._open(*arguments))
                return
            value = self._calls.get(call, _no_such_call)(*arguments)
        except RefusedError as refused:
            error = -refused.number
        except OSError as failed:
            error = -(failed.errno or errno.EIO)
        answer = struct.pack("=QqiI", number, value, error, 0)
        try:
            fcntl.ioctl(self._listener, _SEND, answer)
        except OSError:  # the process was killed meanwhile
            return

    def _give(self, number: int, opened: int) -> None:
        """Answer a call with a descriptor."""
        addition = struct.pack("=QIIII", number, _SEND_TOO, opened, 0, os.O_CLOEXEC)
        try:
            fcntl.ioctl(self._listener, _ADD_DESCRIPTOR, addition)
        finally:
            os.close(opened)

    # -- calls ----------------------------------------------------------------------------------

    def _open(self, directory: int, path: int, flags: int, *_: int) -> int:
        root, rest = self._found(directory, path)
        if root is None:
            raise RefusedError(errno.EACCES)
        kept = flags & _KEPT_FLAGS | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(rest, os.O_RDONLY | kept, dir_fd=root)

    def _stat_at(self, directory: int, path: int, buffer: int, flags: int, *_: int) -> int:
        if flags & _AT_EMPTY_PATH and not self._text(path):
            return self._stat_descriptor(directory, buffer)
        root, rest = self._found(directory, path)
        follow = not flags & _AT_SYMLINK_NOFOLLOW
        found = os.stat(rest, dir_fd=root, follow_symlinks=follow) if root is not None else None
        return self._write(buffer, _packed(found))

    def _stat_descriptor(self, number: int, buffer: int) -> int:
        return self._write(buffer, _packed(self._place(number).stat()))

    def _read_link(self, directory: int, path: int, buffer: int, size: int, *_: int) -> int:
        root, rest = self._found(directory, path)
        if root is None:
            raise RefusedError(errno.EINVAL)
        target = os.fsencode(os.readlink(rest, dir_fd=root))[: min(size, _MAX_PATH)]
        self._write(buffer, target)
        return len(target)

    def _access(self, directory: int, path: int, mode: int, *_: int) -> int:
        root, rest = self._found(directory, path)
        mode &= 7
        if mode & os.W_OK or not (root is None or os.access(rest, mode, dir_fd=root)):
            raise RefusedError(errno.EACCES)
        return 0

    # -- paths and memory -----------------------------------------------------------------------

    def _found(self, directory: int, address: int) -> tuple[int | None, str]:
        """Return the root that a path is below, and the rest of the path.

        The root is None for a directory above the roots.

        Raises:
            RefusedError: the path is outside the roots, or there is none.
        """
        path = self._text(address)
        if not path:
            raise RefusedError(errno.ENOENT)
        if not path.startswith("/"):
            path = posixpath.join(self._directory(directory), path)
        path = "/" + posixpath.normpath(path).lstrip("/")
        for root, handle in self._roots.items():
            if path == root or path.startswith(root + "/"):
                return handle, path[len(root) + 1 :] or "."
        if path in self._above:
            return None, ""
        raise RefusedError(errno.ENOENT)

    def _directory(self, number: int) -> str:
        """Return the path of an open directory of the process, as the process sees it."""
        if _signed(number) == _AT_FDCWD:
            return "/"
        there = str(self._place(number).readlink())
        for root, handle in self._roots.items():
            base = str(Path(f"/proc/self/fd/{handle}").readlink())
            if there == base or there.startswith(base + "/"):
                return root + there[len(base) :]
        raise RefusedError(errno.ENOTDIR)

    def _place(self, number: int) -> Path:
        """Return a link to the file behind an open descriptor of the process."""
        number = _signed(number)
        place = Path(f"/proc/{self._pid}/fd/{number}")
        if number < 0 or not place.is_symlink():
            raise RefusedError(errno.EBADF)
        return place

    def _text(self, address: int) -> str:
        """Return the text at an address in the memory of the process."""
        read = b""
        while len(read) < _MAX_PATH:
            at = address + len(read)
            part = self._memory(270, 310, at, bytearray(_PAGE - at % _PAGE))
            end = part.find(b"\0")
            read += part if end < 0 else part[:end]
            if end >= 0:
                return os.fsdecode(bytes(read))
        raise RefusedError(errno.ENAMETOOLONG)

    def _write(self, address: int, data: bytes) -> int:
        self._memory(271, 311, address, bytearray(data))
        return 0

    def _memory(self, on_arm: int, on_x86: int, address: int, data: bytearray) -> bytearray:
        """Copy between a buffer and the memory of the process."""
        buffer = (ctypes.c_char * len(data)).from_buffer(data)
        ours = struct.pack("=QQ", ctypes.addressof(buffer), len(data))
        there = struct.pack("=QQ", address, len(data))
        call = on_arm if platform.machine() == "aarch64" else on_x86
        one = ctypes.c_long(1)
        done = self._libc.syscall(call, self._pid, ours, one, there, one, ctypes.c_long(0))
        if done != len(data):
            raise RefusedError(errno.EFAULT)
        return data


def _no_such_call(*_: int) -> NoReturn:
    raise RefusedError(errno.ENOSYS)


def _packed(found: os.stat_result | None) -> bytes:
    """Return what the kernel would write, without times of access; None is a plain directory."""
    if found is None:
        mode, times = stat.S_IFDIR | 0o755, (0, 0) * 3
        dev, inode, links, uid, gid, rdev, size, block, blocks = 1, 1, 2, 0, 0, 0, 4096, 4096, 8
    else:
        times = divmod(found.st_mtime_ns, 10**9) * 3
        mode, dev, inode, links = found.st_mode, found.st_dev, found.st_ino, found.st_nlink
        uid, gid, rdev, size = found.st_uid, found.st_gid, found.st_rdev, found.st_size
        block, blocks = found.st_blksize, found.st_blocks
    if platform.machine() == "aarch64":
        head: tuple[int, ...] = (dev, inode, mode, links, uid, gid, rdev, 0)
        head += (size, block, 0, blocks)
    else:
        head = (dev, inode, links, mode, uid, gid, 0, rdev, size, block, blocks)
    return struct.pack(_STAT[platform.machine()], *head, *times)


def _parents(path: str) -> list[str]:
    found = []
    while path not in ("/", ""):
        path = posixpath.dirname(path)
        found.append(path)
    return found


def _signed(number: int) -> int:
    """Return the lower half of an argument as a C ``int``."""
    number &= 0xFFFF_FFFF
    return number - (1 << 32) if number >> 31 else number
