"""Seccomp: restricts a process to the few system calls that Python needs.

It runs inside the jail too, so it needs only Python. The filter is classic BPF, a program that the
kernel runs over each call's number and arguments (``linux/seccomp.h``, ``linux/filter.h``). All
other calls fail with EPERM, so a bot gets a Python exception and its author a traceback. A call
through another architecture's interface kills the process.
"""

import ctypes
import errno
import os
import struct
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING or __name__ != "seccomp":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox.c_library import libc
else:
    from c_library import libc

# Numbers for x86_64 and aarch64; None if the machine has no such call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "poll": (7, None),
    "ppoll": (271, 73),
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "stat": (4, None),
    "lstat": (6, None),
    "statx": (332, 291),
    "lseek": (8, 62),
    "getdents64": (217, 61),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "getcwd": (79, 17),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "restart_syscall": (219, 128),
    "sigaltstack": (131, 132),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getrandom": (318, 278),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "sched_yield": (24, 124),
    "select": (23, None),
    "pselect6": (270, 72),
    "rseq": (334, 293),
}
# Allowed with some arguments only.
_MMAP, _MPROTECT, _MADVISE, _FUTEX = (9, 222), (10, 226), (28, 233), (202, 98)
_OPENAT, _FCNTL, _IOCTL = (257, 56), (72, 25), (16, 29)
_CLOCKS = ((228, 113), (229, 114), (230, 115))  # clock_gettime, clock_getres, clock_nanosleep
_SCHED_GETAFFINITY = (204, 123)
_CLONE3 = (435, 435)

# Calls about files and directories. In tier 2 the broker answers them.
_FILE_CALLS = (
    *("newfstatat", "stat", "lstat", "statx", "fstat", "readlink", "readlinkat"),
    *("access", "faccessat", "faccessat2"),
)

_PROT_EXEC = 4
# MAP_SHARED and MAP_SHARED_VALIDATE have this bit, MAP_PRIVATE has not. Two processes that share
# memory can signal to each other.
_MAP_SHARED = 1
# The kernel counts neither as data, so the limit of a table's memory would not hold. Huge pages
# also come from one stock of the machine, whose size all bots could see.
_MAP_GROWSDOWN, _MAP_HUGETLB = 0x100, 0x40000
_MAP_REFUSED = _MAP_SHARED | _MAP_GROWSDOWN | _MAP_HUGETLB
# Frees memory, or chooses the size of pages. Other advice loads or evicts pages of files that all
# bots read, or merges equal pages of several processes: the time to read them would be a signal.
_ADVICE = (4, 8, 14, 15)  # MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE
# Waits and wakes within one process only. Without the flag, processes that map one file can wake
# each other. 256 is FUTEX_CLOCK_REALTIME. Without operations that lend a priority.
_FUTEX_PRIVATE = 128
_FUTEX_OPERATIONS = tuple(
    operation | _FUTEX_PRIVATE | clock for operation in (0, 1, 3, 4, 5, 9, 10) for clock in (0, 256)
)
# Higher and negative numbers are clocks of devices, and of the CPU time of other processes.
_MAX_CLOCK = 11
# The kernel's own values: Python's O_LARGEFILE is 0 where the C library sets it anyway.
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Neither F_SETOWN nor F_SETFL: together they make the kernel send signals.
_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
_IOCTL_REQUESTS = (0x5401, 0x5450, 0x5451, 0x541B)  # TCGETS, FIONCLEX, FIOCLEX, FIONREAD

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x4000_0000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_NOTIFY = 0x7FC0_0000

_SET_MODE_FILTER = 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_PR_SET_NO_NEW_PRIVS = 38


def machine_name() -> str:
    """Return the name of this machine's processor; the module `platform` is slow to load."""
    return os.uname().machine


def program(machine: str | None = None) -> bytes:
    """Return the filter for a machine, by default this one.

    Raises:
        OSError: the machine's system call numbers are not listed here.
    """
    return _program(machine or machine_name())


@cache
def _program(machine: str) -> bytes:
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {machine}; it is x86_64 or aarch64")
    column, _ = _MACHINES[machine]
    lines = _head(machine)
    for numbers in _NUMBERS.values():
        if (number := numbers[column]) is not None:
            lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _ALLOW)]
    no_code = [_line(_ANY_BIT, _PROT_EXEC, 0, 1), _refuse(errno.EPERM)]
    only_counted = [_line(_ANY_BIT, _MAP_REFUSED, 0, 1), _refuse(errno.EPERM)]
    lines += _when(_MMAP[column], (2, no_code), (3, only_counted))
    lines += _when(_MPROTECT[column], (2, no_code))
    lines += _when(_MADVISE[column], (2, _one_of(_ADVICE)))
    lines += _when(_FUTEX[column], (1, _one_of(_FUTEX_OPERATIONS)))
    no_writing = [_line(_ANY_BIT, _WRITING, 0, 1), _refuse(errno.EACCES)]
    lines += _when(_OPENAT[column], (2, no_writing))
    lines += _when(_FCNTL[column], (1, _one_of(_FCNTL_COMMANDS)))
    lines += _when(_IOCTL[column], (1, _one_of(_IOCTL_REQUESTS)))
    known_clock = [_line(_AT_LEAST, _MAX_CLOCK + 1, 0, 1), _refuse(errno.EPERM)]
    for numbers in _CLOCKS:
        lines += _when(numbers[column], (0, known_clock))
    lines += _when(_SCHED_GETAFFINITY[column], (0, _one_of((0,))))  # of itself
    # After "no such call" the C library tries clone instead, which is refused like the rest.
    lines += [_line(_EQUAL, _CLONE3[column], 0, 1), _refuse(errno.ENOSYS)]
    lines.append(_refuse(errno.EPERM))
    return b"".join(lines)


def listener_program(machine: str | None = None) -> bytes:
    """Return a filter that hands calls about files to a listener and allows all others."""
    machine = machine or machine_name()
    column, _ = _MACHINES[machine]
    lines = _head(machine)
    for number in (_OPENAT[column], *(_NUMBERS[name][column] for name in _FILE_CALLS)):
        if number is not None:
            lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _NOTIFY)]
    lines.append(_line(_RETURN, _ALLOW))
    return b"".join(lines)


def number(name: str) -> int | None:
    """Return the number of a call on this machine; None if the machine has no such call."""
    column, _ = _MACHINES[machine_name()]
    return _OPENAT[column] if name == "openat" else _NUMBERS[name][column]


def install() -> None:
    """Install the filter for this process, its threads and its children, for good.

    Raises:
        OSError: the kernel refused, or the machine's numbers are not listed here.
    """
    synchronize = 1
    _install(program(), synchronize)


def install_listener() -> int:
    """Install the filter of `listener_program`; return the descriptor of its listener.

    Raises:
        OSError: the kernel refused; it needs Linux 5.5 or newer.
    """
    new_listener = 8
    return _install(listener_program(), new_listener)


def _install(code: bytes, flags: int) -> int:
    _buffer, header = packed(code)
    result: int = libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if not result:
        result = libc().syscall(_SECCOMP[machine_name()], _SET_MODE_FILTER, flags, header)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
    return result


@cache
def packed(code: bytes) -> tuple[object, bytes]:
    """Return a filter in memory that stays, and where it is, as the kernel takes it."""
    buffer = ctypes.create_string_buffer(code, len(code))
    return buffer, struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))


def _head(machine: str) -> list[bytes]:
    """Return the first lines of a filter, which load the number of the call."""
    return [
        _line(_LOAD, _ARCHITECTURE),
        *_unless_equal(_MACHINES[machine][1], [_line(_RETURN, _KILL_PROCESS)]),
        _line(_LOAD, _NUMBER),
        _line(_AT_LEAST, _X32, 0, 1),
        _line(_RETURN, _KILL_PROCESS),
    ]


def _line(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _refuse(number: int) -> bytes:
    return _line(_RETURN, _ERRNO | number)


def _unless_equal(value: int, lines: list[bytes]) -> list[bytes]:
    return [_line(_EQUAL, value, len(lines), 0), *lines]


def _when(number: int, *checks: tuple[int, list[bytes]]) -> list[bytes]:
    """Return lines that allow a call when checks of arguments don't refuse it.

    The checks read the lower half of an argument, as every checked argument is an ``int``.

    Args:
        number: of the call.
        checks: positions of arguments, each with lines that go on or refuse the call.
    """
    body: list[bytes] = []
    for argument, lines in checks:
        body += [_line(_LOAD, _ARGUMENTS + 8 * argument), *lines]
    body.append(_line(_RETURN, _ALLOW))
    return [_line(_EQUAL, number, 0, len(body)), *body]


def _one_of(values: tuple[int, ...]) -> list[bytes]:
    """Return checks that refuse an argument that is none of these."""
    lines = [_line(_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    return [*lines, _refuse(errno.EPERM)]
