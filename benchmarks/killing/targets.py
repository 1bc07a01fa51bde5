"""The processes of a league by kind, and what is done to them."""

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_KINDS = {
    "valkey-server": "valkey",
    "postgres -D": "postgres",
    "caddy": "front",
    "devserver.forks": "code",
    "granian": "web",
    "uvicorn": "gateway",
    "play@": "play",
    "clock@": "clock",
    "seats@": "seats",
    "checks@": "checks",
    "ratings@": "ratings",
    "celery beat": "beat",
    "set_up_league": "set-up",
}
_stopped: set["Target"] = set()


class Target(NamedTuple):
    """A process. A later process with the same pid has another start time."""

    pid: int
    kind: str
    started: str


def targets(supervisor: int, more: Mapping[int, str] | None = None) -> Iterator[Target]:
    """Yield the supervisor and all its descendants, zombies left out.

    The kind of a part's child is the part's name with ``child``; children of children count so too.
    Below a process of bubblewrap are a ``zygote``, and below a zygote each ``bot``, with its helper
    process.

    Args:
        supervisor: its pid.
        more: kinds of other processes by pid, which are yielded with their descendants.
    """
    todo = [(supervisor, "supervisor"), *(more or {}).items()]
    while todo:
        pid, kind = todo.pop()
        with suppress(OSError, IndexError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                yield Target(pid, kind, fields[19])
            todo += [(child, _child_kind(child, kind)) for child in _children(pid)]


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has ended
            yield from map(int, (task / "children").read_text().split())


def _child_kind(pid: int, parent: str) -> str:
    command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    if parent in ("zygote", "bot"):
        return "bot"
    if "bwrap" in command.split(" ", 1)[0]:
        return "sandbox"
    if parent == "sandbox":
        return "zygote"
    if parent != "supervisor":
        return parent if parent.endswith(" child") else f"{parent} child"
    return next((kind for word, kind in _KINDS.items() if word in command), "other")


def strike(target: Target, pause: float) -> bool:
    """Kill a process, or stop it for a pause in seconds; return whether it was there."""
    if not _is(target):
        return False
    with suppress(ProcessLookupError):
        if not pause:
            os.kill(target.pid, signal.SIGKILL)
            return True
        os.kill(target.pid, signal.SIGSTOP)
        _stopped.add(target)
        timer = threading.Timer(pause, _resume, [target])
        timer.daemon = True
        timer.start()
        return True
    return False


def resume_all() -> None:
    """Let all stopped processes go on."""
    for target in list(_stopped):
        _resume(target)


def _resume(target: Target) -> None:
    _stopped.discard(target)
    if _is(target):
        with suppress(ProcessLookupError):
            os.kill(target.pid, signal.SIGCONT)


def _is(target: Target) -> bool:
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{target.pid}/stat").read_text().rpartition(")")[2].split()
        return stat[19] == target.started
    return False
