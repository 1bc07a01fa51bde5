"""A zygote: a process that has loaded all that bots need, and forks a process for each bot.

It runs inside the jail, but without its locks, and no code of a bot ever runs in it. A request is a
message on its socket with five descriptors. The zygote does not read from them: the child does,
after the fork. So the zygote keeps nothing of a bot or a match that a later child could find.

    zygote, in tier 1 under bubblewrap
      +- parent of bot A, in tier 2 its file broker; in tier 1 the first process of new namespaces
      |    +- bot A, locked in by `harness`
      +- parent of bot B ...

The parent reports the status with which its bot ends. The zygote ends when the worker closes the
socket and all bots have ended, or when it gets no request before the socket's time limit. The
kernel kills it when the worker ends, and its descendants with it.
"""

import gc
import importlib
import json
import os
import random
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING or __name__ != "zygote":  # outside the jail it is imported to be compiled once
    from bots_sdk.sandbox import broker, harness, namespaces, passing, rights, seccomp
else:
    import broker
    import harness
    import namespaces
    import passing
    import rights
    import seccomp

_WARM = (
    *("collections", "dataclasses", "enum", "functools", "heapq", "itertools", "linecache", "math"),
    *("operator", "random", "re", "statistics", "traceback", "typing"),
    *("landlock", "resource", "engine.games.catalogue"),
)
"""Modules that bots import most, and those that each child needs."""

_CONTROL = 3
"""The zygote's descriptor beside 0 to 2."""
_DESCRIPTORS = 5
_REQUESTS, _REPORT = 3, 4
"""A child's descriptors beside 0 to 2: for requests of the referee, and of its parent's report."""


def main(config: dict[str, Any]) -> NoReturn:
    """Load everything, then fork until the worker needs no more bots.

    Args:
        config: from `jail.Jail.config`; ``control`` is the descriptor of the socket.
    """
    _arrange([0, 1, 2, config["control"]])
    rights.set_dumpable(False)
    rights.die_with_parent(config["parent"])
    harness.prepare(config)
    for name in _WARM:
        importlib.import_module(name)
    seccomp.packed(seccomp.program())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel forgets children that end
    gc.collect()
    gc.freeze()
    serve(config)


def serve(config: dict[str, Any]) -> NoReturn:
    """Fork for each request.

    All children can read what this function leaves in memory. So it uses the same memory and the
    same numbers of descriptors for each request; only the interpreter's own counters change.
    """
    zygote = os.getpid()
    processes = None if config["broker"] else namespaces.Processes()
    receiver, sender = passing.Receiver(_CONTROL), passing.Sender(_REPORT, b"parent")
    first = _next_descriptor()
    while True:
        length = receiver.receive()
        if length > 0:
            if _fork(processes):
                _become_parent(config, receiver.descriptors(), sender, zygote)
            os.closerange(first, first + _DESCRIPTORS)
        elif length == 0 or not _has_children():
            break
    _wait_for_children()
    os._exit(0)


def _next_descriptor() -> int:
    """Return the number that the next descriptor will have."""
    number = os.dup(_CONTROL)
    os.close(number)
    return number


def _fork(processes: namespaces.Processes | None) -> bool:
    """Fork; return True in the child. In tier 1 the child is the first process of a namespace."""
    if processes is not None:
        processes.begin()
    try:
        if not os.fork():
            return True
    except OSError:  # no memory: the worker finds that the bot does not start
        traceback.print_exc()
    if processes is not None:
        processes.end()
    return False


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _wait_for_children() -> None:
    """Wait until all children have ended; the kernel then reports that there are none."""
    try:
        os.wait()
    except ChildProcessError:
        return


def _become_parent(
    config: dict[str, Any], descriptors: list[int], sender: passing.Sender, zygote: int
) -> NoReturn:
    """Set up the namespaces of a bot, start it, and report how it ends.

    Args:
        config: from `jail.Jail.config`.
        descriptors: from the request.
        sender: sends this process's descriptor to the worker.
        zygote: the process id of the zygote.
    """
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        source, requests, answers, output, report = descriptors
        _arrange([source, answers, output, requests, report])
        rights.die_with_parent(zygote if config["broker"] else None)
        own = {**_read_config(), "requests": _REQUESTS, "parent": zygote}
        _draw_new_luck()
        handle = os.pidfd_open(os.getpid())
        sender.send(handle)
        os.close(handle)
        if config["broker"]:
            harness.run(config, own, _REPORT)
        namespaces.separate(own["folder"])
        own["parent"] = os.getpid()
        child = os.fork()
        if not child:
            os.close(_REPORT)
            harness.run(config, own)
        rights.drop_capabilities()
        os.closerange(0, _REPORT)
        os.write(_REPORT, bytes([broker.wait_as_shells(child)]))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def _arrange(descriptors: list[int]) -> None:
    """Give descriptors the numbers from 0 on, and close all others."""
    above = max(*descriptors, len(descriptors)) + 1
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, above + number)
    for number in range(len(descriptors)):
        os.dup2(above + number, number)
    os.closerange(len(descriptors), os.sysconf("SC_OPEN_MAX"))


def _read_config() -> dict[str, Any]:
    """Read the configuration of one bot from descriptor 0."""
    length = int(_read(8))
    found: dict[str, Any] = json.loads(_read(length))
    return found


def _read(length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = os.read(0, length - len(data))
        if not more:
            raise OSError("the configuration is cut off")
        data += more
    return data


def _draw_new_luck() -> None:
    """Seed the random numbers anew, which would be the same in all children."""
    random.seed()
    if (numpy_random := sys.modules.get("numpy.random")) is not None:
        numpy_random.seed()
