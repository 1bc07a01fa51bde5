"""Worker processes of a server end with the process that started them.

A server that is killed can't end its workers. Without this they would live on without it, hold its
socket and its memory, and, when they end at last, remove files of the server that runs by then.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Kill this process when its parent ends, at once if the parent has ended already.

    Call it from a process whose parent started it from its main thread: the system sends the signal
    when that thread ends.

    Args:
        parent: pid of the parent at this process's start.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
