"""The file broker of tier 2: makes a bot's file calls for it, so that it sees its own files only.

Without namespaces no lock of the kernel hides a path: Landlock forbids opening a file, but not
`stat` or `readlink`. So seccomp hands these calls to the broker (``seccomp_unotify(2)``), a process
in the same jail that runs no code of the bot. It answers from a few directories; all other paths
don't exist. No answer contains a time of access, so reading a file leaves no mark for other bots.

The broker reads a path once, from the memory of the bot, and uses only its own copy.
"""

import contextlib
import ctypes
import errno
import os
import posixpath
import select
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING or __name__ != "broker":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox import passing, rights, seccomp
else:
    import passing
    import rights
    import seccomp

_RECEIVE, _SEND, _ADD_DESCRIPTOR = 0xC050_2100, 0xC018_2101, 0x4018_2103
_SEND_TOO = 2
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_AT_FDCWD, _AT_EMPTY_PATH, _AT_SYMLINK_NOFOLLOW = -100, 0x1000, 0x100
_KEPT_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW
_OPENAT2, _RESOLVE_BENEATH = 437, 8  # the same on every architecture
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
    ours, theirs = passing.socket_pair()
    parent = os.getpid()
    child = os.fork()
    if child:
        os.close(theirs)
        _serve(child, ours, roots, descriptors)
    os.close(ours)
    rights.die_with_parent(parent)
    for handle in roots.values():
        os.close(handle)
    listener = seccomp.install_listener()
    passing.Sender(b"listener").send(theirs, listener)
    os.close(listener)
    os.close(theirs)


def _serve(
    child: int,
    ours: int,
    roots: Mapping[str, int],
    descriptors: Iterable[int],
) -> NoReturn:
    """Answer the calls of a child until it ends; then end with its status, as shells do."""
    status = 1
    try:
        for descriptor in descriptors:
            os.close(descriptor)
        handle = os.pidfd_open(child)
        _, listeners = passing.receive(ours)
        os.close(ours)
        if listeners:
            Broker(child, listeners[0], roots).run(handle)
        _, ended = os.waitpid(child, 0)
        status = as_shells(ended)
    finally:
        os._exit(status)


def as_shells(status: int) -> int:
    """Return how a process ended as shells do: 128 and the number of the signal that ended it."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


class Broker:
    """Answers the file calls of one process."""

    def __init__(self, pid: int, listener: int, roots: Mapping[str, int]) -> None:
        self._pid = pid
        self._listener = listener
        self._roots = roots
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ioctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p)
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
        notification = ctypes.create_string_buffer(_NOTIFICATION.size)
        if self._libc.ioctl(self._listener, _RECEIVE, notification):
            return  # the process was killed meanwhile
        number, _, _, call, _, _, *arguments = _NOTIFICATION.unpack(notification.raw)
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
        # If the process was killed meanwhile, the answer fails.
        self._libc.ioctl(self._listener, _SEND, struct.pack("=QqiI", number, value, error, 0))

    def _give(self, number: int, opened: int) -> None:
        """Answer a call with a descriptor."""
        addition = struct.pack("=QIIII", number, _SEND_TOO, opened, 0, os.O_CLOEXEC)
        failed = self._libc.ioctl(self._listener, _ADD_DESCRIPTOR, addition) < 0
        reason = ctypes.get_errno()
        os.close(opened)
        if failed:
            raise OSError(reason, "the process can't take the descriptor")

    # -- calls ----------------------------------------------------------------------------------

    def _open(self, directory: int, path: int, flags: int, *_: int) -> int:
        root, rest = self._found(directory, path)
        if root is None:
            raise RefusedError(errno.EACCES)
        return self._reach(root, rest, flags & _KEPT_FLAGS | os.O_NOCTTY | os.O_NONBLOCK)

    def _stat_at(self, directory: int, path: int, buffer: int, flags: int, *_: int) -> int:
        if flags & _AT_EMPTY_PATH and not self._text(path):
            return self._stat_descriptor(directory, buffer)
        root, rest = self._found(directory, path)
        if root is None:
            return self._write(buffer, _packed(None))
        with self._reached(root, rest, flags & _AT_SYMLINK_NOFOLLOW) as reached:
            return self._write(buffer, _packed(os.fstat(reached)))

    def _stat_descriptor(self, number: int, buffer: int) -> int:
        return self._write(buffer, _packed(os.stat(self._place(number))))

    def _read_link(self, directory: int, path: int, buffer: int, size: int, *_: int) -> int:
        root, rest = self._found(directory, path)
        if root is None:
            raise RefusedError(errno.EINVAL)
        with self._reached(root, rest, _AT_SYMLINK_NOFOLLOW) as reached:
            if not stat.S_ISLNK(os.fstat(reached).st_mode):
                raise RefusedError(errno.EINVAL)
            target = os.fsencode(os.readlink("", dir_fd=reached))[: min(size, _MAX_PATH)]
        self._write(buffer, target)
        return len(target)

    def _access(self, directory: int, path: int, mode: int, *_: int) -> int:
        root, rest = self._found(directory, path)
        if mode & os.W_OK:
            raise RefusedError(errno.EACCES)
        if root is not None:
            with self._reached(root, rest, 0) as reached:
                if not os.access(f"/proc/self/fd/{reached}", mode & 7):
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

    @contextlib.contextmanager
    def _reached(self, root: int, rest: str, flags: int) -> Iterator[int]:
        """Give a descriptor of a file below a root, or of a link itself, that can't be read."""
        link_itself = os.O_NOFOLLOW if flags & _AT_SYMLINK_NOFOLLOW else 0
        reached = self._reach(root, rest, os.O_PATH | link_itself)
        try:
            yield reached
        finally:
            os.close(reached)

    def _reach(self, root: int, rest: str, flags: int) -> int:
        """Open a file below a root; no link on the way may lead outside."""
        how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, _RESOLVE_BENEATH)
        size = ctypes.c_size_t(len(how))
        reached: int = self._libc.syscall(_OPENAT2, root, os.fsencode(rest), how, size)
        if reached < 0:
            number = ctypes.get_errno()
            raise RefusedError(errno.ENOENT if number == errno.EXDEV else number)
        return reached

    def _directory(self, number: int) -> str:
        """Return the path of an open directory of the process, as the process sees it."""
        if _signed(number) == _AT_FDCWD:
            return "/"
        there = os.readlink(self._place(number))
        for root, handle in self._roots.items():
            base = os.readlink(f"/proc/self/fd/{handle}")
            if there == base or there.startswith(base + "/"):
                return root + there[len(base) :]
        raise RefusedError(errno.ENOTDIR)

    def _place(self, number: int) -> str:
        """Return a link to the file behind an open descriptor of the process."""
        number = _signed(number)
        place = f"/proc/{self._pid}/fd/{number}"
        if number < 0 or not os.path.lexists(place):
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
        call = on_arm if seccomp.machine_name() == "aarch64" else on_x86
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
    if seccomp.machine_name() == "aarch64":
        head: tuple[int, ...] = (dev, inode, mode, links, uid, gid, rdev, 0)
        head += (size, block, 0, blocks)
    else:
        head = (dev, inode, links, mode, uid, gid, 0, rdev, size, block, blocks)
    return struct.pack(_STAT[seccomp.machine_name()], *head, *times)


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
