"""The zygotes of a worker: one for each jail and set of libraries.

A zygote starts when a bot first needs it. It is replaced when it has ended, and after
`MAX_STARTS` bots or `MAX_SECONDS`, since its children have the same addresses and hashes of texts.
An old zygote ends with its last bot.
"""

import atexit
import math
import os
import select
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from bots_sdk.sandbox.jail import Jail, encoded, environment
from engine.errors import quote

MAX_STARTS = 1000
"""The number of bots that one zygote starts."""
MAX_SECONDS = 600.0
"""The time in which one zygote starts bots."""
MAX_IDLE_SECONDS = 60.0
"""A zygote without a bot that gets no request for so long ends, and frees its memory."""

_DYING_SECONDS = 1.0

_Key = tuple[tuple[str, ...], str]

_lock = Lock()
_running: dict[_Key, "Zygote"] = {}
"""The zygotes that take requests."""
_alive: set["Zygote"] = set()
"""All zygotes of this process, also those that wait for their last bot."""


def ask(
    jail: Jail, folder: Path, libraries: tuple[str, ...], descriptors: Sequence[int]
) -> "Zygote":
    """Let a zygote start a bot; return the zygote.

    Args:
        jail: the jail.
        folder: contains the directories of all bots with more than one file.
        libraries: the names of the libraries that the bot gets.
        descriptors: the ends of the bot's pipes: its configuration, requests, answers, output, and
            the socket for its process descriptor and the report of its end.

    Raises:
        OSError: the zygote can't be started.
    """
    command = jail.zygote_command(folder=folder, libraries=libraries)
    config = jail.config(run="zygote", libraries=libraries)
    key = tuple(command), str(config)
    with _lock:
        zygote = _running.get(key)
        if zygote is not None and not zygote.is_old() and not zygote.has_ended(0):
            with suppress(BrokenPipeError):  # it ends just now
                zygote.ask(descriptors)
                return zygote
        if zygote is not None:
            zygote.retire()
        zygote = _running[key] = Zygote(command, config)
        _alive.add(zygote)
        zygote.ask(descriptors)
        return zygote


class Zygote:
    """One zygote, see `bots_sdk.sandbox.zygote`.

    A thread starts it and waits for its end, because the kernel ends it with the thread that
    started it.
    """

    def __init__(self, command: list[str], config: dict[str, Any]) -> None:
        """Start the zygote, without waiting until it has loaded everything.

        Raises:
            OSError: it can't be started.
        """
        self._began = monotonic()
        self._starts = 0
        self._killed = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)  # if it hangs, requests fail
        self._guard = Lock()
        self._popen: subprocess.Popen[bytes] | None = None
        self._started, self._ended = Event(), Event()
        self._reason = ""
        words = {**config, "control": theirs.fileno(), "idle": MAX_IDLE_SECONDS}
        errors: list[OSError | ValueError] = []
        keep = Thread(target=self._keep, args=(command, words, errors), name="zygote", daemon=True)
        keep.start()
        self._started.wait()
        theirs.close()
        for error in errors:
            self.close()
            raise error

    def ask(self, descriptors: Sequence[int]) -> None:
        """Request a child.

        Raises:
            OSError: it has ended, or it hangs.
        """
        socket.send_fds(self._control, [b"fork"], descriptors)
        self._starts += 1

    def is_old(self) -> bool:
        """Return whether it should start no more bots."""
        return self._killed or self._starts >= MAX_STARTS or monotonic() - self._began > MAX_SECONDS

    def has_ended(self, seconds: float) -> bool:
        """Return whether it has ended after some seconds at most.

        It has ended for this function before any of its children has.
        """
        with self._guard:
            if self._ended.is_set():
                return True
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            return bool(poll.poll(math.ceil(seconds * 1000)))

    def reason(self) -> str:
        """Return why it has ended, in one line."""
        self._ended.wait(_DYING_SECONDS)
        return self._reason

    def retire(self) -> None:
        """Let it end with its last bot."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """Kill it, and with it all of its children."""
        self._killed = True  # bubblewrap ends first, then the zygote
        self.retire()
        if self._popen is not None and self._popen.poll() is None:
            with suppress(ProcessLookupError):
                # The group, as bubblewrap may not yet have bound its child to its own life.
                os.killpg(self._popen.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the socket, after the end or in a process that does not own the zygote."""
        self._control.close()

    def _keep(
        self, command: list[str], config: dict[str, Any], errors: list[OSError | ValueError]
    ) -> None:
        """Run the zygote until it ends; keep the end of its output, which has the reason."""
        try:
            popen = self._popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment(),
                cwd="/",
                pass_fds=[config["control"]],
                process_group=0,  # signals to the worker's group must not reach it
            )
        except (OSError, ValueError) as error:
            errors.append(error)
            return
        finally:
            self._started.set()
        _, printed = popen.communicate(encoded(config))
        lines = printed.decode("utf-8", "replace").strip().splitlines()
        self._reason = quote(lines[-1], 200) if lines else f"exit status {popen.returncode}"
        self._ended.set()
        with self._guard:
            self.close()
        with _lock:
            _alive.discard(self)


def end_all() -> None:
    """End all zygotes of this process, and their bots."""
    for zygote in list(_alive):
        zygote.kill()
    for zygote in list(_alive):
        zygote.reason()


def _forget() -> None:
    """After a fork: the zygotes belong to the parent, and must end with it."""
    global _lock
    _lock = Lock()
    for zygote in _alive:
        zygote.close()
    _alive.clear()
    _running.clear()


os.register_at_fork(after_in_child=_forget)
atexit.register(end_all)
