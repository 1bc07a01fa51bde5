"""Bare system calls for the canary, without Python's wrappers around them."""

import platform
from typing import Any

READ, WRITE, EXECUTE = 1, 2, 4
# Numbers of system calls on x86_64 and aarch64, with harmless arguments.
CALLS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "add_key": (248, 217, (0, 0, 0, 0, 0)),
    "bpf": (321, 280, (0, 0, 0)),
    "chroot": (161, 51, (0,)),
    "execve": (59, 221, (0, 0, 0)),
    "execveat": (322, 281, (-1, 0, 0, 0, 0)),
    "inotify_init1": (294, 26, (0,)),
    "io_uring_setup": (425, 425, (0, 0)),
    "keyctl": (250, 219, (0, -3, 0)),
    "memfd_create": (319, 279, (0, 0)),
    "mount": (165, 40, (0, 0, 0, 0, 0)),
    "mq_open": (240, 180, (0, 0, 0, 0)),
    "open_by_handle_at": (304, 265, (-1, 0, 0)),
    "perf_event_open": (298, 241, (0, 0, -1, -1, 0)),
    "personality": (135, 92, (0xFFFFFFFF,)),
    "pidfd_getfd": (438, 438, (-1, 0, 0)),
    "pidfd_open": (434, 434, (-1, 0)),
    "prctl": (157, 167, (0, 0, 0, 0, 0)),
    "process_vm_writev": (311, 271, (0, 0, 0, 0, 0, 0)),
    "ptrace": (101, 117, (1, 0, 0, 0)),
    "rt_sigqueueinfo": (129, 138, (0, 0, 0)),
    "sched_setaffinity": (203, 122, (0, 0, 0)),
    "seccomp": (317, 277, (99, 0, 0)),
    "setitimer": (38, 103, (0, 0, 0)),
    "setns": (308, 268, (-1, 0)),
    "setpriority": (141, 140, (0, 0, 0)),
    "setuid": (105, 146, (0,)),
    "shmget": (29, 194, (0, 0, 0)),
    "socket": (41, 198, (1, 1, 0)),
    "socketpair": (53, 199, (1, 1, 0, 0)),
    "timer_create": (222, 107, (-1, 0, 0)),
    "unshare": (272, 97, (0,)),
    "userfaultfd": (323, 282, (0,)),
}


def ctypes_names() -> dict[str, Any]:
    """Return the names in ctypes; if its import fails, from an object that the harness left."""
    try:
        import ctypes

        return vars(ctypes)
    except ImportError:
        left = next(kind for kind in object.__subclasses__() if kind.__name__ == "CDLL")
        found: dict[str, Any] = left.__init__.__globals__
        return found


def system_call(numbers: tuple[int, int], *arguments: int | bytes | None) -> tuple[int, int]:
    """Make a system call; return its result and the error's number."""
    ctypes = ctypes_names()
    syscall = ctypes["CDLL"](None, use_errno=True).syscall
    syscall.restype = ctypes["c_long"]
    number = numbers[platform.machine() == "aarch64"]
    wide = [ctypes["c_long"](each) if isinstance(each, int) else each for each in arguments]
    return int(syscall(ctypes["c_long"](number), *wide)), int(ctypes["get_errno"]())


def map_memory(length: int, protection: int) -> int:
    """Return the address of new memory, or 0."""
    private_anonymous = 0x22
    address, _ = system_call((9, 222), 0, length, protection, private_anonymous, -1, 0)
    return 0 if address == -1 else address
