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

from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError, SandboxBrokenError
from bots_sdk.sandbox.jail import Jail, Limits, environment, file
from bots_sdk.sandbox.messages import FOREIGN_DATA, failure, parsed
from bots_sdk.sandbox.timing import Meter, MoveTimer, children
from engine.errors import quote

_CHUNK = 1 << 16
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SETUP_SECONDS = 30.0
"""The time limit for the jail's set-up; it is long, as a busy machine is not the bot's fault."""
_ENDING_SECONDS = 0.1
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
        numpy: bool,
        playouts: bool,
        limits: Limits,
        log: bytearray,
    ) -> None:
        """Start the process and send it the bot, without waiting for it.

        Args:
            jail: the jail.
            main: the content of the bot's Python file.
            info: the argument of the bot's ``start``.
            directory: the directory of the bot's files, if it has more than one.
            numpy: whether the bot gets NumPy.
            playouts: whether the bot gets the kernel of playouts.
            limits: the limits of the bot.
            log: receives the bot's output.

        Raises:
            SandboxBrokenError: the process can't be started.
        """
        self.ready = False
        self._jail = jail
        self._limits = limits
        self._log = log
        self._meter = Meter(())
        self._descriptors: set[int] = set()
        theirs: list[int] = []
        try:
            # These are close-on-exec, so bots that start meanwhile don't inherit them.
            their_source, self._source = os.pipe()
            theirs.append(their_source)
            self._descriptors.add(self._source)
            their_requests, self._requests = os.pipe()
            theirs.append(their_requests)
            self._descriptors.add(self._requests)
            self._status, their_status = os.pipe()
            theirs.append(their_status)
            self._descriptors.add(self._status)
            self._popen = subprocess.Popen(
                jail.command(
                    status=their_status, directory=directory, numpy=numpy, playouts=playouts
                ),
                stdin=their_source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                cwd="/",
                pass_fds=theirs[1:] if jail.bubblewrap else [their_requests],
                process_group=0,  # signals to the worker's group must not reach it
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            self._close()
            raise SandboxBrokenError(f"the sandbox can't be started: {error}") from error
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        pipes = (self._popen.stdout, self._popen.stderr)
        self._answers, self._output = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self._requests, self._answers, self._output, self._source, self._status):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._poll.register(self._output, select.POLLIN)
        config = jail.config(
            requests=their_requests,
            directory=directory,
            numpy=numpy,
            playouts=playouts,
            limits=limits,
        )
        head = {"file": file(directory), "info": info}
        self._unsent = config + json.dumps(head).encode() + b"\n" + main
        self._feed()  # so that bots that are started together load together

    def wait_ready(self, timer: MoveTimer) -> None:
        """Wait until the bot is loaded, then pause it.

        Args:
            timer: of the move that waits for the bot.

        Raises:
            BotTimeoutError: loading takes too long.
            BotCrashError: the bot does not load.
            SandboxBrokenError: the jail isn't locked.
        """
        self._wait_locked()
        loading = timer.limited(self._limits.start_seconds)
        self._meter = Meter(self._find_processes())
        for each in (timer, loading):
            each.watch(self._meter, new=True)
        while self._unsent:
            self._wait(self._source, loading)
            self._feed()
        answer = parsed(self.line(loading))
        self._meter.pause()
        if answer == {"ready": True}:
            if not self._meter.pids:
                self._raise_death(SandboxBrokenError("its process can't be found to pause it"))
            self.ready = True
            return
        if answer.keys() == {"failed", "kind"}:
            raise failure(answer, self._limits)
        raise BotCrashError(FOREIGN_DATA)

    def ask(self, request: bytes, timer: MoveTimer) -> bytes:
        """Return the line that answers a line; the bot runs only meanwhile.

        Args:
            request: a line with its end.
            timer: of the move.

        Raises:
            BotTimeoutError: no answer came before the deadline.
            BotCrashError: the process died, or wrote more or less than one line.
        """
        with contextlib.suppress(BlockingIOError):
            if not os.read(self._answers, 1):
                self._raise_death()
            raise BotCrashError(FOREIGN_DATA)  # before anything was asked
        timer.watch(self._meter)
        while request:
            try:
                request = request[os.write(self._requests, request) :]
            except BlockingIOError:
                self._meter.resume()
                self._wait(self._requests, timer)
            except BrokenPipeError:
                self._raise_death()
        self._meter.resume()
        line = self.line(timer)
        self._meter.pause()
        return line

    def line(self, timer: MoveTimer) -> bytes:
        """Return the next line, without its end.

        Raises:
            BotTimeoutError: no line came before the deadline.
            BotCrashError: the process died, or wrote more or less than one line.
        """
        received = b""
        while True:
            left = timer.left()
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
                    raise BotCrashError(FOREIGN_DATA)  # the harness sends one line at a time

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
        """Return the most memory that it filled so far, in bytes; None if it is unknown.

        The kernel keeps the largest address space. Programs and libraries are a constant part of
        it, and the limit of a table does not count them.
        """
        try:
            pid = self._find_processes()[-1]
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            sizes = {name: line for name, _, line in (each.partition(":") for each in lines)}
            peak, now, data = (
                int(sizes[name].split()[0]) for name in ("VmPeak", "VmSize", "VmData")
            )
        except (OSError, ValueError, IndexError, KeyError):
            return None
        return peak - (now - data) << 10

    def resident(self) -> int:
        """Return the bytes of memory that the processes take now."""
        pages = 0
        for pid in self._meter.pids:
            with contextlib.suppress(OSError, IndexError):
                pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * _PAGE_BYTES

    def _find_processes(self) -> list[int]:
        """Return the processes inside the jail; none if they have ended."""
        found = [self._popen.pid]
        while below := children(found[-1]):
            found.append(below[0])
        # Bubblewrap waits for the first process of the namespace, which waits for the harness.
        return found[2:] if self._jail.bubblewrap else found

    def end(self) -> None:
        """End the process and wait until it is gone."""
        self._kill()
        self.drain()
        self._close()

    def _kill(self) -> None:
        if self._meter.pids:
            self._meter.kill()  # the processes around it then end, and leave nothing to reap
            if self._gone(_DYING_SECONDS):
                return
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

    def _wait(self, descriptor: int, timer: MoveTimer) -> None:
        """Wait until a pipe to the process takes more."""
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        while (left := timer.left()) > 0:
            if poll.poll(math.ceil(min(left, 3600.0) * 1000)):
                return
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

    def _raise_death(self, alive: Exception | None = None) -> NoReturn:
        """Raise an error with the way in which the process ended, or another if it is alive."""
        if not self._gone(_ENDING_SECONDS):
            raise alive or BotCrashError("it closed the descriptor that answers go to")
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
        self._meter.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
        popen = getattr(self, "_popen", None)
        for pipe in (popen.stdout, popen.stderr) if popen else ():
            if pipe is not None:
                pipe.close()
