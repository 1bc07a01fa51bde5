"""The C library, for system calls that Python has no functions for.

It runs inside the jail too, so it needs only Python.
"""

import ctypes
from functools import cache

_CALLS = (
    *("capset", "mount", "prctl", "recvmsg", "sendmsg"),
    *("setns", "syscall", "umount2", "unshare"),
)
"""The functions that a process needs between a zygote's fork and its own locks."""


@cache
def libc() -> ctypes.CDLL:
    """Return the C library, with its functions looked up.

    It is loaded once: to load it anew is slow, above all in a child of a zygote, which shares no
    memory any more that it writes to.
    """
    library = ctypes.CDLL(None, use_errno=True)
    for name in _CALLS:
        getattr(library, name)  # keeps the function
    library.mount.argtypes = (*(ctypes.c_char_p,) * 3, ctypes.c_ulong, ctypes.c_char_p)
    return library
