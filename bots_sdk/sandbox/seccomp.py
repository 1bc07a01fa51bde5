"""Seccomp: restricts a process to the few system calls that Python needs.

It runs inside the jail too, so it needs only Python. The filter is classic BPF, a program that the
kernel runs over each call's number and arguments (``linux/seccomp.h``, ``linux/filter.h``). All
other calls fail with EPERM, so a bot gets a Python exception and its author a traceback. A call
through another architecture's interface kills the process.
"""

import ctypes
import errno
import os
import platform
import struct

# Numbers for x86_64 and aarch64; None if the machine has no such call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "poll": (7, None),
    "ppoll": (271, 73),
    "clock_gettime": (228, 113),
    "futex": (202, 98),
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
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
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "select": (23, None),
    "pselect6": (270, 72),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "rseq": (334, 293),
}
# Allowed with some arguments only.
_MMAP, _MPROTECT = (9, 222), (10, 226)
_OPENAT, _FCNTL, _IOCTL = (257, 56), (72, 25), (16, 29)
_CLONE3 = (435, 435)

_PROT_EXEC = 4
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

_SET_MODE_FILTER = 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_PR_SET_NO_NEW_PRIVS = 38


def program(machine: str | None = None) -> bytes:
    """Return the filter for a machine, by default this one.

    Raises:
        OSError: the machine's system call numbers are not listed here.
    """
    machine = machine or platform.machine()
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {machine}; it is x86_64 or aarch64")
    column, architecture = _MACHINES[machine]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        *_unless_equal(architecture, [_line(_RETURN, _KILL_PROCESS)]),
        _line(_LOAD, _NUMBER),
        _line(_AT_LEAST, _X32, 0, 1),
        _line(_RETURN, _KILL_PROCESS),
    ]
    for numbers in _NUMBERS.values():
        if (number := numbers[column]) is not None:
            lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _ALLOW)]
    for number in (_MMAP[column], _MPROTECT[column]):
        lines += _when(number, 2, [_line(_ANY_BIT, _PROT_EXEC, 0, 1), _refuse(errno.EPERM)])
    lines += _when(_OPENAT[column], 2, [_line(_ANY_BIT, _WRITING, 0, 1), _refuse(errno.EACCES)])
    lines += _when(_FCNTL[column], 1, _one_of(_FCNTL_COMMANDS))
    lines += _when(_IOCTL[column], 1, _one_of(_IOCTL_REQUESTS))
    # After "no such call" the C library tries clone instead, which is refused like the rest.
    lines += [_line(_EQUAL, _CLONE3[column], 0, 1), _refuse(errno.ENOSYS)]
    lines.append(_refuse(errno.EPERM))
    return b"".join(lines)


def install() -> None:
    """Install the filter for this process, its threads and its children, for good.

    Raises:
        OSError: the kernel refused, or the machine's numbers are not listed here.
    """
    code = program()
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    synchronize = 1
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        _SECCOMP[platform.machine()], _SET_MODE_FILTER, synchronize, header
    ):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _line(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _refuse(number: int) -> bytes:
    return _line(_RETURN, _ERRNO | number)


def _unless_equal(value: int, lines: list[bytes]) -> list[bytes]:
    return [_line(_EQUAL, value, len(lines), 0), *lines]


def _when(number: int, argument: int, checks: list[bytes]) -> list[bytes]:
    """Return lines that allow a call when checks of an argument don't refuse it.

    The checks read the lower half of the argument, as every checked argument is an ``int``.
    """
    body = [
        _line(_LOAD, _ARGUMENTS + 8 * argument),
        *checks,
        _line(_RETURN, _ALLOW),
    ]
    return [_line(_EQUAL, number, 0, len(body)), *body]


def _one_of(values: tuple[int, ...]) -> list[bytes]:
    """Return checks that refuse an argument that is none of these."""
    lines = [_line(_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    return [*lines, _refuse(errno.EPERM)]
