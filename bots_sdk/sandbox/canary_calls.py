"""Bare system calls for the canary, without Python's wrappers around them."""

import platform
from typing import Any

# Numbers of system calls on x86_64 and aarch64, with harmless arguments.
CALLS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "add_key": (248, 217, (0, 0, 0, 0, 0)),
    "adjtimex": (159, 171, (0,)),
    "bpf": (321, 280, (0, 0, 0)),
    "cachestat": (451, 451, (-1, 0, 0, 0)),
    "capget": (125, 90, (0, 0)),
    "capset": (126, 91, (0, 0)),
    "chdir": (80, 49, (0,)),
    "chroot": (161, 51, (0,)),
    "clock_adjtime": (305, 266, (0, 0)),
    "clone3": (435, 435, (0, 0)),
    "copy_file_range": (326, 285, (-1, 0, -1, 0, 0, 0)),
    "dup3": (292, 24, (-1, -1, 0)),
    "epoll_create1": (291, 20, (-1,)),
    "epoll_pwait": (281, 22, (-1, 0, 0, 0, 0, 0)),
    "eventfd2": (290, 19, (0, -1)),
    "execve": (59, 221, (0, 0, 0)),
    "execveat": (322, 281, (-1, 0, 0, 0, 0)),
    "fadvise64": (221, 223, (-1, 0, 0, 4)),
    "fallocate": (285, 47, (-1, 0, 0, 0)),
    "fanotify_init": (300, 262, (-1, 0)),
    "fchdir": (81, 50, (-1,)),
    "fchmod": (91, 52, (-1, 0)),
    "fchown": (93, 55, (-1, 0, 0)),
    "fgetxattr": (193, 10, (-1, 0, 0, 0)),
    "flock": (73, 32, (-1, 0)),
    "fremovexattr": (199, 16, (-1, 0)),
    "fsopen": (430, 430, (0, 0)),
    "fspick": (433, 433, (-1, 0, 0)),
    "fstatfs": (138, 44, (-1, 0)),
    "fsync": (74, 82, (-1,)),
    "ftruncate": (77, 46, (-1, 0)),
    "futex_requeue": (456, 456, (0, 0, 0, 0)),
    "futex_wait": (455, 455, (0, 0, 0, 0, 0, 0)),
    "futex_waitv": (449, 449, (0, 0, 0, 0, 0)),
    "futex_wake": (454, 454, (0, 0, 0, 0)),
    "get_mempolicy": (239, 236, (0, 0, 0, 0, 0)),
    "get_robust_list": (274, 100, (0, 0, 0)),
    "getgroups": (115, 158, (-1, 0)),
    "getitimer": (36, 102, (0, 0)),
    "getpgid": (121, 155, (0,)),
    "getpriority": (140, 141, (0, 0)),
    "getrlimit": (97, 163, (0, 0)),
    "getsid": (124, 156, (0,)),
    "getxattr": (191, 8, (0, 0, 0, 0)),
    "inotify_add_watch": (254, 27, (-1, 0, 0)),
    "inotify_init1": (294, 26, (0,)),
    "io_setup": (206, 0, (0, 0)),
    "io_uring_enter": (426, 426, (-1, 0, 0, 0, 0, 0)),
    "io_uring_setup": (425, 425, (0, 0)),
    "ioprio_get": (252, 31, (1, 0)),
    "kcmp": (312, 272, (0, 0, 0, 0, 0)),
    "keyctl": (250, 219, (0, -3, 0)),
    "kill": (62, 129, (0, 0)),
    "landlock_create_ruleset": (444, 444, (0, 0, 1)),
    "linkat": (265, 37, (-1, 0, -1, 0, 0)),
    "listxattr": (194, 11, (0, 0, 0)),
    "mbind": (237, 235, (1, 0, 0, 0, 0, 0)),
    "membarrier": (324, 283, (0, 0, 0)),
    "memfd_create": (319, 279, (0, 0)),
    "migrate_pages": (256, 238, (0, 0, 0, 0)),
    "mincore": (27, 232, (0, 0, 0)),
    "mknodat": (259, 33, (-1, 0, 0, 0)),
    "mlock": (149, 228, (0, 0)),
    "mount": (165, 40, (0, 0, 0, 0, 0)),
    "mount_setattr": (442, 442, (-1, 0, 0, 0, 0)),
    "move_pages": (279, 239, (0, 0, 0, 0, 0, 0)),
    "mq_open": (240, 180, (0, 0, 0, 0)),
    "mq_unlink": (241, 181, (0,)),
    "msgget": (68, 186, (0, 0)),
    "msync": (26, 227, (0, 0, 0)),
    "open_by_handle_at": (304, 265, (-1, 0, 0)),
    "open_tree": (428, 428, (-1, 0, 0)),
    "openat2": (437, 437, (-1, 0, 0, 0)),
    "perf_event_open": (298, 241, (0, 0, -1, -1, 0)),
    "personality": (135, 92, (0xFFFFFFFF,)),
    "pidfd_getfd": (438, 438, (-1, 0, 0)),
    "pidfd_open": (434, 434, (-1, 0)),
    "pidfd_send_signal": (424, 424, (-1, 0, 0, 0)),
    "pipe2": (293, 59, (0, 0)),
    "prctl": (157, 167, (0, 0, 0, 0, 0)),
    "preadv": (295, 69, (-1, 0, 0)),
    "prlimit64": (302, 261, (0, 0, 0, 0)),
    "process_madvise": (440, 440, (-1, 0, 0, 0, 0)),
    "process_vm_readv": (310, 270, (0, 0, 0, 0, 0, 0)),
    "process_vm_writev": (311, 271, (0, 0, 0, 0, 0, 0)),
    "ptrace": (101, 117, (1, 0, 0, 0)),
    "pwritev": (296, 70, (-1, 0, 0)),
    "quotactl": (179, 60, (-1, 0, 0, 0)),
    "readahead": (187, 213, (-1, 0, 0)),
    "request_key": (249, 218, (0, 0, 0, 0)),
    "rt_sigpending": (127, 136, (0, 0)),
    "rt_sigqueueinfo": (129, 138, (0, 0, 0)),
    "rt_sigtimedwait": (128, 137, (0, 0, 0, 0)),
    "rt_tgsigqueueinfo": (297, 240, (0, 0, 0, 0)),
    "sched_getattr": (315, 275, (0, 0, 0, 0)),
    "sched_getparam": (143, 121, (0, 0)),
    "sched_getscheduler": (145, 120, (0,)),
    "sched_rr_get_interval": (148, 127, (0, 0)),
    "sched_setaffinity": (203, 122, (0, 0, 0)),
    "sched_setattr": (314, 274, (0, 0, 0)),
    "sched_setscheduler": (144, 119, (0, 0, 0)),
    "seccomp": (317, 277, (99, 0, 0)),
    "semget": (64, 190, (0, 0, 0)),
    "semtimedop": (220, 192, (-1, 0, 0, 0)),
    "sendfile": (40, 71, (-1, -1, 0, 0)),
    "set_mempolicy": (238, 237, (-1, 0, 0)),
    "set_robust_list": (273, 99, (0, 0)),
    "set_tid_address": (218, 96, (0,)),
    "setitimer": (38, 103, (0, 0, 0)),
    "setns": (308, 268, (-1, 0)),
    "setpriority": (141, 140, (0, 0, 0)),
    "setuid": (105, 146, (0,)),
    "shmat": (30, 196, (-1, 0, 0)),
    "shmget": (29, 194, (0, 0, 0)),
    "signalfd4": (289, 74, (-1, 0, 0, 0)),
    "socket": (41, 198, (1, 1, 0)),
    "socketpair": (53, 199, (1, 1, 0, 0)),
    "splice": (275, 76, (-1, 0, -1, 0, 0, 0)),
    "statfs": (137, 43, (0, 0)),
    "sync_file_range": (277, 84, (-1, 0, 0, 0)),
    "syncfs": (306, 267, (-1,)),
    "sysinfo": (99, 179, (0,)),
    "syslog": (103, 116, (3, 0, 0)),
    "tee": (276, 77, (-1, -1, 0, 0)),
    "tgkill": (234, 131, (0, 0, 0)),
    "timer_create": (222, 107, (-1, 0, 0)),
    "timerfd_create": (283, 85, (-1, 0)),
    "tkill": (200, 130, (0, 0)),
    "umask": (95, 166, (18,)),
    "uname": (63, 160, (0,)),
    "unshare": (272, 97, (0,)),
    "userfaultfd": (323, 282, (0,)),
    "utimensat": (280, 88, (-1, 0, 0, 0)),
    "vmsplice": (278, 75, (-1, 0, 0, 0)),
    "wait4": (61, 260, (-1, 0, 1, 0)),
    "waitid": (247, 95, (9, 0, 0, 0, 0)),
}

NEW_CALLS = {"cachestat", "futex_requeue", "futex_wait", "futex_waitv", "futex_wake"}
"""Calls that Linux before 6.7 may lack."""


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
