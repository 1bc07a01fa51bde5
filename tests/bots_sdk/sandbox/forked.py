"""Helpers for tests of zygotes and their bots."""

import time
from collections.abc import Callable
from pathlib import Path

from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.starts import ForkedStart
from bots_sdk.sandbox.zygotes import Zygote

Play = Callable[..., BotProcess]
"""The fixture `play`."""


def zygote_of(bot: BotProcess) -> Zygote:
    """Return the zygote that forked a bot."""
    assert bot._process is not None
    start = bot._process._start
    assert isinstance(start, ForkedStart)
    return start._zygote


def processes_of(zygote: Zygote) -> list[int]:
    """Return bubblewrap's two processes, if it has them, and the zygote."""
    assert zygote._popen is not None
    found = [zygote._popen.pid]
    wait_until(lambda: _leads_to_zygote(found))
    return found


def _leads_to_zygote(found: list[int]) -> bool:
    """Return whether the last process is the zygote; if not, add its child if it has one.

    The zygote is called "bwrap" too until it has executed Python, and later it has children of its
    own. So the name is read after the children.
    """
    last = Path(f"/proc/{found[-1]}")
    children = (last / f"task/{last.name}/children").read_text().split()
    if "bwrap" not in (last / "comm").read_text():
        return True
    found += [int(pid) for pid in children[:1]]
    return False


def children_of(pid: int) -> list[str]:
    """Return the process ids of a process's children."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds; fail after 20 s."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)
