"""A zygote: a process that has loaded all that bots need, and forks a process for each bot.

It runs inside the jail, but without its locks, and no code of a bot ever runs in it. A request is a
message on its socket with five descriptors. The zygote keeps the last one, a socket, on which it
sends the process descriptor of its child, and at the end of the child a *report*. It does not read
from the others: the child does, after the fork. So the zygote keeps nothing of a bot or a match
that a later child could find.

    zygote, in tier 1 under bubblewrap
      +- bot A, locked in by `harness`; in tier 1 the first process of new namespaces
      +- in tier 2: file broker of bot B
           +- bot B

The zygote ends when the worker closes the socket and all bots have ended, or when it has no bot and
gets no request for some time. The kernel kills it when the worker ends, and its descendants with
it.
"""

import gc
import importlib
import json
import os
import random
import select
import signal
import sys
import traceback
from contextlib import suppress
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
_REQUESTS = 3
"""A child's descriptor beside 0 to 2: for requests of the referee."""


def main(config: dict[str, Any]) -> NoReturn:
    """Load everything, then fork until the worker needs no more bots.

    Args:
        config: from `jail.Jail.config`; ``control`` is the descriptor of the socket, ``idle`` the
            seconds after which a zygote without bots ends.
    """
    _arrange([0, 1, 2, config["control"]])
    rights.set_dumpable(False)
    rights.die_with_parent(config["parent"])
    harness.prepare(config)
    for name in _WARM:
        importlib.import_module(name)
    seccomp.packed(seccomp.program())
    gc.collect()
    gc.freeze()
    serve(config)


def serve(config: dict[str, Any]) -> NoReturn:
    """Fork for each request, and report each end.

    All children can read what this function leaves in memory. So it uses the same memory for each
    request; only numbers change, of processes and descriptors, and the interpreter's own counters.
    """
    zygote = os.getpid()
    processes = None if config["broker"] else namespaces.Processes()
    receiver, sender = passing.Receiver(_CONTROL), passing.Sender(b"process")
    events = select.epoll()
    events.register(_CONTROL, select.EPOLLIN)
    children: dict[int, tuple[int, int]] = {}
    takes_requests = True
    while takes_requests or children:
        found = events.poll(config["idle"] if takes_requests else None)
        if not found and not children:
            break
        for handle, _ in found:
            if handle != _CONTROL:
                events.unregister(handle)  # a child that has just begun may still have it open
                os.close(handle)
                _report(*children.pop(handle), is_broker=config["broker"])
                continue
            length = receiver.receive()
            if not length:
                events.unregister(_CONTROL)
                takes_requests = False
                continue
            *descriptors, socket = receiver.descriptors()
            pid = _fork(processes)
            if pid == 0:
                _become_bot(config, descriptors, zygote)
            for descriptor in descriptors:
                os.close(descriptor)
            watched = None if pid is None else _watch(pid, socket, sender, events, config["uid"])
            if pid is None or watched is None:
                os.close(socket)
            else:
                children[watched] = pid, socket
    os._exit(0)


def _fork(processes: namespaces.Processes | None) -> int | None:
    """Fork as `os.fork`; in tier 1 the child is the first process of a namespace.

    Returns None if there is no memory: the worker finds that the bot does not start.
    """
    try:
        if processes is not None:
            processes.begin()
        pid = os.fork()
    except OSError:
        traceback.print_exc()
        pid = None
    if processes is not None and pid != 0:
        processes.end()
    return pid


def _watch(
    pid: int, socket: int, sender: passing.Sender, events: select.epoll, uid: int | None
) -> int | None:
    """Send the process descriptor of a child, and wait for its end; return the descriptor.

    Returns None, and kills the child, if the worker does not wait for it or the kernel refuses.
    """
    handle = None
    try:
        handle = os.pidfd_open(pid)
        sender.send(socket, handle)
        events.register(handle, select.EPOLLIN)
    except OSError:
        _kill(pid, uid)
        os.waitpid(pid, 0)
        if handle is not None:
            os.close(handle)
        return None
    return handle


def _kill(pid: int, uid: int | None) -> None:
    """Kill a child, even if it already runs as the user of bots.

    In tier 1 a zygote of root may not send signals to other users. It may take their real user id:
    this permits the signal, and changes no other right.
    """
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        if uid is None:
            raise
        own = os.getuid()
        os.setresuid(uid, -1, -1)
        try:
            os.kill(pid, signal.SIGKILL)
        finally:
            os.setresuid(own, -1, -1)


def _report(pid: int, socket: int, *, is_broker: bool) -> None:
    """Report how a child has ended: its status, with 128 added to the number of a signal.

    A file broker ends with the status of its bot. If a signal ended the broker, nothing is known of
    the bot, so there is no report.
    """
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) or not is_broker:
        with suppress(OSError):  # nobody waits for it any more
            os.write(socket, bytes([broker.as_shells(status)]))
    os.close(socket)


def _become_bot(config: dict[str, Any], descriptors: list[int], zygote: int) -> NoReturn:
    """Set up the namespaces of a bot, and become it; in tier 2 become its file broker.

    Args:
        config: from `jail.Jail.config`.
        descriptors: from the request.
        zygote: the process id of the zygote.
    """
    try:
        source, requests, answers, output = descriptors
        _arrange([source, answers, output, requests])
        # A process does not see a parent outside its namespace.
        parent = zygote if config["broker"] else None
        rights.die_with_parent(parent)
        own = {**_read_config(), "requests": _REQUESTS, "parent": parent}
        _draw_new_luck()
        if not config["broker"]:
            namespaces.separate(own["folder"])
        harness.run(config, own)
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
