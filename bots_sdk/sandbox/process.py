"""A jailed process and its pipes: requests in, lines out, each with a deadline.

Output from the jail is not trusted: it is read as bytes, up to a limit and a deadline.
"""

import contextlib
import json
import math
import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from bots_sdk.sandbox import compiling, kept_code
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError, SandboxBrokenError
from bots_sdk.sandbox.jail import Jail, file
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.messages import FOREIGN_DATA, failure, parsed
from bots_sdk.sandbox.starts import begin
from bots_sdk.sandbox.timing import Meter, MoveTimer
from engine.errors import quote
from engine.faults import NOT_IN_TIME

_CHUNK = 1 << 16
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SETUP_SECONDS = 30.0
"""The time limit for the jail's set-up; it is long, as a busy machine is not the bot's fault."""
_ENDING_SECONDS = 1.0
"""The time in which the end of a process is noticed that has closed its descriptors."""


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
        libraries: tuple[str, ...],
        limits: Limits,
        log: bytearray,
    ) -> None:
        """Start the process and send it the bot, without waiting for it.

        Args:
            jail: the jail.
            main: the content of the bot's Python file.
            info: the argument of the bot's ``start``.
            directory: the directory of the bot's files, if it has more than one.
            libraries: the names of the libraries that the bot gets.
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
        self._directory = directory
        self._libraries = libraries
        self._main = main
        self._about = {"file": file(directory), "info": info}
        self._wants_code = False
        self._unsent = b""
        self._open = False
        self._begin()

    def _begin(self) -> None:
        """Start the process; feed it, so that bots that are started together load together."""
        head = self._head()
        self._start = began = begin(
            self._jail, directory=self._directory, libraries=self._libraries, limits=self._limits
        )
        self._answers, self._output = began.answers, began.output
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._poll.register(self._output, select.POLLIN)
        self._unsent = began.config + head
        self._open = True
        self._feed()

    def _head(self) -> bytes:
        """Return the bot as the harness reads it: a line, the code if it is known, and the file."""
        code = kept_code.find(self._main)
        self._wants_code = code is None
        code = code or b""
        about = {**self._about, "code_bytes": len(code), "wants_code": self._wants_code}
        return json.dumps(about).encode() + b"\n" + code + self._main

    def wait_ready(self, timer: MoveTimer) -> None:
        """Wait until the bot is loaded, then pause it.

        Args:
            timer: of the move that waits for the bot.

        Raises:
            BotTimeoutError: loading takes too long.
            BotCrashError: the bot does not load.
            SandboxBrokenError: the jail isn't locked.
        """
        self._wait_locked(timer)
        loading = timer.limited(self._limits.start_seconds)
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            self._meter = Meter(self._start.find_processes())
        for each in (timer, loading):
            each.watch(self._meter, new=True)
        while self._unsent:
            self._wait(self._start.source, loading)
            self._feed()
        if self._wants_code:
            self._keep_code(loading)
        answer = parsed(self.line(loading))
        self._meter.pause()
        if answer == {"ready": True}:
            if not self._meter.pids:
                self._raise_death(SandboxBrokenError("its process ended before it could be paused"))
            self.ready = True
            return
        if answer.keys() == {"failed", "kind"}:
            raise failure(answer, self._limits)
        raise BotCrashError(FOREIGN_DATA)

    def ask(self, request: bytes, timer: MoveTimer) -> bytes:
        """Return the line that answers a request; the bot runs only meanwhile.

        Args:
            request: from `messages.framed`.
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
                request = request[os.write(self._start.requests, request) :]
            except BlockingIOError:
                self._meter.resume()
                self._wait(self._start.requests, timer)
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
                raise BotTimeoutError(NOT_IN_TIME)
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
        while self._open and (room := self._limits.log_bytes - len(self._log)) > 0:
            try:
                data = os.read(self._output, min(room, _CHUNK))
            except BlockingIOError:
                return
            if not data:
                break
            self._log += data
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._output)

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that the bot pays for, its own last; empty before it is loaded."""
        return self._meter.pids

    def memory(self) -> int | None:
        """Return the most memory that it filled so far, in bytes; None if it is unknown.

        The kernel keeps the largest address space. Programs and libraries are a constant part of
        it, and the limit of a table does not count them.
        """
        try:
            pid = self._start.find_processes()[-1]
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

    def end(self) -> None:
        """End the process and wait until it is gone; a second call does nothing."""
        if not self._open:
            return
        if self._meter.pids:
            self._meter.kill()
        self._start.kill(is_dying=bool(self._meter.pids))
        self.drain()
        self._open = False
        self._meter.close()
        self._start.close()

    def _feed(self) -> None:
        """Send as much of the bot as the pipe takes."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._start.source, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the last line of the process gives the reason
            self._unsent = b""
        self._start.close_source()

    def _wait(self, descriptor: int, timer: MoveTimer) -> None:
        """Wait until a pipe to the process takes more."""
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        while (left := timer.left()) > 0:
            if poll.poll(math.ceil(min(left, 3600.0) * 1000)):
                return
        raise BotTimeoutError("it did not read its observation in time")

    def _wait_locked(self, timer: MoveTimer) -> None:
        """Wait until the jail is locked; a failure before is not the bot's fault."""
        try:
            try:
                locked = self._line_of_harness()
            except (BotTimeoutError, SandboxBrokenError):
                if not self._start.may_begin_again():
                    raise
                printed_before = len(self._log)
                self.end()  # nothing of the bot has run
                del self._log[printed_before:]  # the sandbox's own errors
                timer.begin_again()
                self._begin()
                locked = self._line_of_harness()
        except (BotTimeoutError, BotCrashError, SandboxBrokenError) as error:
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
        received = self._received(wanted, lambda: deadline - time.monotonic())
        if received is None:
            raise BotTimeoutError(f"its sandbox was not ready after {_SETUP_SECONDS:.0f} s")
        return received

    def _keep_code(self, timer: MoveTimer) -> None:
        """Keep the code that the harness has compiled, for later processes of the same bot."""
        length = self._received(len(compiling.LENGTH % 0), timer.left)
        if length is None:
            raise BotTimeoutError(NOT_IN_TIME)
        if not length.strip().isdigit() or int(length) > compiling.MAX_BYTES:
            raise BotCrashError(FOREIGN_DATA)
        code = self._received(int(length), timer.left)
        if code is None:
            raise BotTimeoutError(NOT_IN_TIME)
        kept_code.keep(self._main, code)

    def _received(self, wanted: int, left: Callable[[], float]) -> bytes | None:
        """Return so many bytes, and nothing after them; None if they did not come in time."""
        received = b""
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        while len(received) < wanted:
            seconds = left()
            if seconds <= 0:
                return None
            if not poll.poll(math.ceil(min(seconds, 3600.0) * 1000)):
                continue
            data = os.read(self._answers, wanted - len(received))
            if not data:
                self._raise_death()
            received += data
        return received

    def _raise_death(self, alive: Exception | None = None) -> NoReturn:
        """Raise an error with the way in which the process ended, or another if it is alive."""
        if not self._start.has_ended(_ENDING_SECONDS):
            if (fault := self._start.fault()) is not None:
                raise SandboxBrokenError(fault)
            raise alive or BotCrashError("it closed the file descriptor for its answers")
        code = self._start.exit_code or 0
        number = -code if code < 0 else code - 128  # shells report signals with 128 added
        try:
            name = signal.Signals(number).name
        except ValueError:
            raise BotCrashError(f"its process ended with exit status {code}") from None
        if name == "SIGXCPU":
            raise BotCrashError(f"it used more than {self._limits.cpu_seconds} s of CPU time")
        if name == "SIGKILL" and (fault := self._start.fault()) is not None:
            raise SandboxBrokenError(fault)
        raise BotCrashError(f"its process was ended by {name}")
