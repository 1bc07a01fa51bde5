"""The fork server: it loads the league's Python code once, and each Python part is forked from it.

So a part starts in milliseconds, and the parts share the memory of the code.

A part is a child of the supervisor, as if the supervisor had started it: the fork server forks a
process that forks the part and ends, and the supervisor adopts orphans. A part therefore outlives
the fork server.

Run it with ``python -m devserver.forks SOCKET MODULE``; the function `load` of the module loads the
code. The supervisor asks for one part with each connection.
"""

import asyncio
import gc
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from devserver import processes

LEFT_OUT = ("greenlet", "psutil", "pygments", "requests", "rich")
"""Packages that others import if they are installed, for what no part does: 7 MB."""

_LONGEST_REQUEST_BYTES = 65536
_ANSWER_SECONDS = 5.0


class NotForkedError(Exception):
    """The fork server did not start a part: it is not there, or did not answer in time."""


class ForkedProcess:
    """A child of this process that the fork server started, with methods of asyncio's `Process`.

    Attributes:
        pid: its process id.
        returncode: its exit status; the negative number of the signal that ended it; or None while
            it runs.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()
        descriptor = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(descriptor, self._reap, descriptor)

    def _reap(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(self.pid, 0)
        self.returncode = os.waitstatus_to_exitcode(status)
        self._ended.set()

    async def wait(self) -> int:
        """Wait until it has ended; return its exit status."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        self.send_signal(signal.SIGKILL)


def fork(at: Path, words: Sequence[str], output: int) -> int:
    """Let the fork server start a part as a child of this process; return its pid.

    Args:
        at: the socket of the fork server.
        words: name or path of a command of an installed distribution, and its arguments.
        output: descriptor for standard output and error.

    Raises:
        NotForkedError: the fork server is not there or does not answer.
    """
    request = json.dumps(words).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(_ANSWER_SECONDS)
        try:
            connection.connect(str(at))
            socket.send_fds(connection, [request], [output])
            if answer := connection.recv(32):
                return int(answer)
        except OSError as error:
            raise NotForkedError(str(error)) from None
    raise NotForkedError("it ended before it answered")


class _Request(NamedTuple):
    """A part to start; `connection` takes its pid."""

    connection: socket.socket
    parent: int
    words: list[str]
    output: int


def leave_out() -> None:
    """Make imports of the packages in `LEFT_OUT` fail, as if they were not installed."""
    for name in LEFT_OUT:
        sys.modules[name] = None  # type: ignore[assignment] # Python's sign for that


def main() -> None:
    """Load the code, then serve until the process is stopped."""
    from importlib.metadata import entry_points  # not for the supervisor: it takes 3 MB

    path, code = sys.argv[1:]
    leave_out()
    import_module(code).load()
    programs = {entry.name: entry for entry in entry_points(group="console_scripts")}
    gc.collect()
    # The collector would write to every object that it visits, and so copy the shared memory.
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        request = _serve(listener)
    _become(request)
    program: Callable[[], Any] = programs[Path(request.words[0]).name].load()
    sys.exit(program())


def _serve(listener: socket.socket) -> _Request:
    """Fork a process for each request; return only in such a process, with its request."""
    while True:
        connection, _ = listener.accept()
        request = _read(connection)
        if request is None:  # a probe, or a supervisor that ended
            connection.close()
            continue
        if threading.active_count() != 1:
            raise RuntimeError(f"threads run before a fork: {threading.enumerate()}")
        sys.stdout.flush()
        sys.stderr.flush()
        if pid := os.fork():
            os.close(request.output)
            connection.close()
            os.waitpid(pid, 0)
        elif os.fork():
            os._exit(0)
        else:
            return request


def _read(connection: socket.socket) -> _Request | None:
    """Return the request that a connection sends, None if it closes without one."""
    connection.settimeout(_ANSWER_SECONDS)
    try:
        text, descriptors, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST_BYTES, 1)
    except OSError:
        return None
    if not text:
        return None
    (output,) = descriptors
    return _Request(connection, os.getppid(), json.loads(text), output)


def _become(request: _Request) -> None:
    """Make this process the part: a child of the supervisor, with its output and variables."""
    from setproctitle import setproctitle

    while os.getppid() != request.parent:  # until the process between has ended
        time.sleep(0.0005)
    processes.end_with_parent(request.parent)
    os.setsid()
    for descriptor in (1, 2):
        os.dup2(request.output, descriptor)
    os.close(request.output)
    sys.argv = request.words
    setproctitle(" ".join(request.words))
    try:
        request.connection.sendall(str(os.getpid()).encode())
    except OSError:
        os._exit(1)  # the supervisor waits no longer, and has asked again
    request.connection.close()


if __name__ == "__main__":
    main()
