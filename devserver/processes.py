"""Processes of a league: bound to the life of their parent, found again, and ended for certain.

Three ways together leave no process behind. Each part receives a signal when the supervisor ends
(PR_SET_PDEATHSIG). The supervisor adopts the orphans of a part that was killed, and ends them
(PR_SET_CHILD_SUBREAPER). Each part holds a file open, by which the next start finds the processes
of a run whose supervisor was killed. Process ids and names play no part: both can be another's.
"""

import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")


def ends_with_us(signal_name: str) -> list[str]:
    """Return words before a command, with which it receives a signal when this thread ends.

    Without setpriv there are no such words: then a supervisor that is killed leaves its parts.
    """
    return ["setpriv", "--pdeathsig", signal_name] if shutil.which("setpriv") else []


def end_with_parent(parent: int) -> None:
    """Kill this process when its parent ends, at once if the parent has ended already.

    Args:
        parent: pid of the parent.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Make this process the parent of its descendants whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_of_other_sessions() -> set[int]:
    """Return the pids of the children of this process, zombies included, but for its helpers.

    A program that this process runs by the way, such as psql, stays in its session. Parts have
    sessions of their own, so nothing that they leave is in it.
    """
    found: set[int] = set()
    for task in (_PROC / "self" / "task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            found.update(filter(_has_other_session, map(int, task.read_text().split())))
    return found


def _has_other_session(pid: int) -> bool:
    try:
        return os.getsid(pid) != os.getsid(0)
    except ProcessLookupError:  # it has ended, and is gone
        return False


def kill(pid: int) -> None:
    """Kill a process, unless it has ended already."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def reap(pid: int) -> None:
    """Remove a child that has ended from the process table."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def holders(file: IO[str]) -> Iterator[int]:
    """Yield the pids of the other processes that have a file open."""
    ours = os.fstat(file.fileno())
    for entry in _PROC.glob("[0-9]*"):
        if int(entry.name) != os.getpid() and _holds(entry, ours):
            yield int(entry.name)


def _holds(entry: Path, ours: os.stat_result) -> bool:
    with suppress(OSError):  # it has ended, or belongs to another user
        for descriptor in (entry / "fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(descriptor.stat(), ours):
                    return True
    return False
