"""A jailed process and its pipes: lines in, lines out, each with a deadline.

Output from the jail is not trusted: it is read as bytes, up to a limit and a deadline.
"""

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NoReturn

from bots_sdk.sandbox.errors import (
    BotCrashError,
    BotMemoryError,
    BotTimeoutError,
    SandboxBrokenError,
)
from bots_sdk.sandbox.jail import Jail, Limits, environment
from engine.errors import quote

_CHUNK = 1 << 16
_SETUP_SECONDS = 30.0
"""The time limit for the jail's set-up; it is long, as a busy machine is not the bot's fault."""
_POLITE_SECONDS = 0.1
_DYING_SECONDS = 5.0


class JailedProcess:
    """One bot's process.

    Attributes:
        ready: whether the bot is loaded.
    """

    def __init__(
        self,
        jail: Jail,
        main: bytes,
        info: dict[str, Any],
        *,
        directory: Path | None,
        limits: Limits,
        log: bytearray,
    ) -> None:
        """Start the process and send it the bot, without waiting for it.

        Args:
            jail: the jail.
            main: the content of the bot's Python file.
            info: the argument of the bot's ``start``.
            directory: the directory of the bot's files, if it has more than one.
            limits: the limits of the bot.
            log: receives the bot's output.

        Raises:
            SandboxBrokenError: the process can't be started.
        """
        self.ready = False
        self._limits = limits
        self._log = log
        self._idle = False
        self._descriptors: set[int] = set()
        theirs: list[int] = []
        try:
            # These are close-on-exec, so bots that start meanwhile don't inherit them.
            their_source, self._source = os.pipe()
            theirs.append(their_source)
            self._descriptors.add(self._source)
            self._status, their_status = os.pipe()
            theirs.append(their_status)
            self._descriptors.add(self._status)
            self._popen = subprocess.Popen(
                jail.command(
                    source=their_source, status=their_status, directory=directory, limits=limits
                ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                cwd="/",
                pass_fds=theirs if jail.bubblewrap else [their_source],
                process_group=0,  # signals to the worker's group must not reach it
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            self._close()
            raise SandboxBrokenError(f"the sandbox can't be started: {error}") from error
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._requests, self._answers, self._output = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self._requests, self._answers, self._output, self._source, self._status):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._poll.register(self._output, select.POLLIN)
        head = {"file": jail.file(directory), "info": info}
        self._unsent = json.dumps(head).encode() + b"\n" + main
        self._feed()  # so that bots that are started together load together

    def wait_ready(self, deadline: float) -> None:
        """Wait until the bot is loaded.

        Raises:
            BotTimeoutError: loading takes too long.
            BotCrashError: the bot does not load.
            SandboxBrokenError: the jail isn't locked.
        """
        self._wait_locked()
        deadline = min(deadline, time.monotonic() + self._limits.start_seconds)
        while self._unsent:
            self._wait(self._source, deadline)
            self._feed()
        answer = parsed(self.line(deadline))
        if answer == {"ready": True}:
            self.ready = True
            return
        if answer.keys() == {"failed", "kind"}:
            raise failure(answer, self._limits)
        raise BotCrashError("it wrote into the protocol while it was loaded")

    def ask(self, request: bytes, deadline: float) -> bytes:
        """Return the line that answers a line.

        Args:
            request: a line with its end.
            deadline: the deadline on the monotonic clock.

        Raises:
            BotTimeoutError: no answer came before the deadline.
            BotCrashError: the process died, or wrote more or less than one line.
        """
        with contextlib.suppress(BlockingIOError):
            if not os.read(self._answers, 1):
                self._raise_death()
            raise BotCrashError("it answered before it received an observation")
        self._idle = False
        while request:
            try:
                request = request[os.write(self._requests, request) :]
            except BlockingIOError:
                self._wait(self._requests, deadline)
            except BrokenPipeError:
                self._raise_death()
        line = self.line(deadline)
        self._idle = True
        return line

    def line(self, deadline: float) -> bytes:
        """Return the next line, without its end.

        Raises:
            BotTimeoutError: no line came before the deadline.
            BotCrashError: the process died, or wrote more or less than one line.
        """
        received = b""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise BotTimeoutError("it did not answer in time")
            for descriptor, _ in self._poll.poll(math.ceil(min(left, 3600.0) * 1000)):
                if descriptor == self._output:
                    self.drain()
                    continue
                try:
                    data = os.read(self._answers, _CHUNK)
                except BlockingIOError:
                    continue
                if not data:
                    self._raise_death()
                received = received + data if received else data
                end = received.find(b"\n")
                if (len(received) if end < 0 else end) > self._limits.line_bytes:
                    raise BotCrashError(
                        f"it answered with more than {self._limits.line_bytes:,} bytes"
                    )
                if end == len(received) - 1:
                    return received[:end]
                if end >= 0:
                    raise BotCrashError("it answered with more than one line")

    def drain(self) -> None:
        """Read the bot's output while the log has room.

        After that the pipe fills up: a bot that goes on writing waits, and runs out of time.
        """
        while (room := self._limits.log_bytes - len(self._log)) > 0:
            try:
                data = os.read(self._output, min(room, _CHUNK))
            except BlockingIOError:
                return
            if not data:
                break
            self._log += data
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._output)

    def memory(self) -> int | None:
        """Return the largest address space so far, in bytes; None if it is unknown."""
        pid = str(self._popen.pid)
        try:
            # Below bubblewrap, which waits for the first process of the namespace, which waits too.
            while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                pid = children[0]
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmPeak:"):
                    return int(line.split()[1]) << 10
        except (OSError, ValueError):
            pass
        return None

    def end(self) -> None:
        """End the process and wait until it is gone."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()  # an idle bot then ends by itself
        if not (self._idle and self._gone(_POLITE_SECONDS)):
            self._kill()
        self.drain()
        self._close()

    def _kill(self) -> None:
        if self._popen.poll() is None and (child := self._namespace_init()) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)  # with it goes the namespace, then bubblewrap
            if self._gone(_DYING_SECONDS):
                return
        if self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()

    def _namespace_init(self) -> int | None:
        """Return the first process of the namespace, whose death ends all others in it."""
        try:
            return int(json.loads(os.read(self._status, 4096))["child-pid"])
        except (BlockingIOError, ValueError, KeyError):
            return None

    def _gone(self, seconds: float) -> bool:
        """Return whether the process has ended after some seconds at most."""
        if self._popen.poll() is not None:
            return True
        handle = os.pidfd_open(self._popen.pid)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            poll.poll(math.ceil(seconds * 1000))
        finally:
            os.close(handle)
        return self._popen.poll() is not None

    def _feed(self) -> None:
        """Send as much of the bot as the pipe takes."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._source, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the last line of the process gives the reason
            self._unsent = b""
        self._descriptors.discard(self._source)
        os.close(self._source)

    def _wait(self, descriptor: int, deadline: float) -> None:
        """Wait until a pipe to the process takes more."""
        left = deadline - time.monotonic()
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        if left <= 0 or not poll.poll(math.ceil(min(left, 3600.0) * 1000)):
            raise BotTimeoutError("it did not read its observation in time")

    def _wait_locked(self) -> None:
        """Wait until the jail is locked; a failure before is not the bot's fault."""
        try:
            locked = self._line_of_harness()
        except (BotTimeoutError, BotCrashError) as error:
            self.drain()
            lines = self._log.decode("utf-8", "replace").strip().splitlines()
            self._log.clear()
            last = quote(lines[-1], 200) if lines else str(error)
            raise SandboxBrokenError(f"the sandbox can't be set up: {last}") from None
        if locked != b'{"locked": true}\n':
            raise SandboxBrokenError(f"the sandbox can't be set up: it printed {quote(locked)}")

    def _line_of_harness(self) -> bytes:
        """Return the first line and nothing after it, which comes from the loading bot."""
        deadline = time.monotonic() + _SETUP_SECONDS
        wanted = len(b'{"locked": true}\n')
        received = b""
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        while len(received) < wanted:
            left = deadline - time.monotonic()
            if left <= 0 or not poll.poll(math.ceil(left * 1000)):
                raise BotTimeoutError("it did not lock itself in")
            data = os.read(self._answers, wanted - len(received))
            if not data:
                self._raise_death()
            received += data
        return received

    def _raise_death(self) -> NoReturn:
        """Raise an error with the way in which the process ended."""
        if not self._gone(_POLITE_SECONDS):
            raise BotCrashError("it closed the descriptor that answers go to")
        code = self._popen.returncode
        number = -code if code < 0 else code - 128  # bubblewrap reports signals as shells do
        try:
            name = signal.Signals(number).name
        except ValueError:
            raise BotCrashError(f"its process ended with exit status {code}") from None
        if name == "SIGXCPU":
            raise BotCrashError(f"it used more than {self._limits.cpu_seconds} s of CPU time")
        raise BotCrashError(f"its process died of {name}")

    def _close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
        popen = getattr(self, "_popen", None)
        for pipe in (popen.stdin, popen.stdout, popen.stderr) if popen else ():
            if pipe is not None:
                pipe.close()


def parsed(line: bytes) -> dict[str, Any]:
    """Return the message in a line.

    Raises:
        BotCrashError: the line is not an object in strict JSON.
    """
    try:
        message = json.loads(
            line.decode(), parse_constant=_no_constant, object_pairs_hook=_without_repeats
        )
    except (ValueError, RecursionError) as error:
        raise BotCrashError(f"its answer is no message: {quote(str(error))}") from None
    if not isinstance(message, dict):
        raise BotCrashError("its answer is no message")
    return message


def failure(answer: dict[str, Any], limits: Limits) -> BotCrashError:
    """Return the fault in an answer of the harness."""
    reason = answer["failed"] if isinstance(answer["failed"], str) else "it failed"
    line = " ".join(reason.split())[:300]
    if answer["kind"] == "memory":
        megabytes = limits.memory_bytes >> 20
        return BotMemoryError(f"it wanted more than its {megabytes} MB of memory: {line}")
    return BotCrashError(line)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found
