"""A supervisor: it starts programs, restarts those that end, and stops all in order."""

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_STOP_SECONDS = 15.0
_QUICK_END_SECONDS = 5.0
_MAX_QUICK_ENDS = 5
_COLOURS = (36, 32, 33, 35, 34, 31)
# If this process is killed, its programs end too, where setpriv is installed.
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()


class Part(NamedTuple):
    """A program to keep running.

    Attributes:
        name: prefix of each line of its output.
        command: the program and its arguments.
        socket: unix socket that it listens on; a killed program's old one is removed.
    """

    name: str
    command: Sequence[str | Path]
    socket: Path | None = None


async def keep_running(
    parts: Sequence[Part], environment: Mapping[str, str], directory: Path, stop: asyncio.Event
) -> None:
    """Run programs until an event is set; a signal sets it, and a program that keeps failing.

    Args:
        parts: the programs.
        environment: their variables.
        directory: their working directory.
        stop: the event that stops all programs.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    width = max(len(part.name) for part in parts)
    await asyncio.gather(
        *(
            _Keeper(part, environment, directory, stop, _prefix(i, part.name, width)).keep()
            for i, part in enumerate(parts)
        )
    )


def _prefix(index: int, name: str, width: int) -> str:
    label = f"{name:{width}} | "
    colour = _COLOURS[index % len(_COLOURS)]
    return f"\033[{colour}m{label}\033[0m" if sys.stdout.isatty() else label


class _Keeper:
    def __init__(
        self,
        part: Part,
        environment: Mapping[str, str],
        directory: Path,
        stop: asyncio.Event,
        prefix: str,
    ) -> None:
        self._part, self._environment, self._directory = part, environment, directory
        self._stop, self._prefix = stop, prefix

    async def keep(self) -> None:
        """Run the part until `stop` is set. If it keeps ending at once, set `stop`."""
        quick_ends = 0
        stopping = asyncio.create_task(self._stop.wait())
        while not self._stop.is_set():
            began = time.monotonic()
            if self._part.socket:
                self._part.socket.unlink(missing_ok=True)
            # Not asyncio's pipe: its `wait` would also wait for the program's children, which hold
            # the pipe open.
            reading, writing = os.pipe()
            # In its own session, Ctrl-C in the terminal does not reach it: it stops in our order.
            process = await asyncio.create_subprocess_exec(
                *_ENDS_WITH_US,
                *map(str, self._part.command),
                env=self._environment,
                cwd=self._directory,
                stdout=writing,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
            os.close(writing)
            copying = asyncio.create_task(self._copy(reading))
            ended = asyncio.create_task(process.wait())
            await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                await _end(process)
            else:
                _kill_group(process)  # its children may hold the socket of the next one
                self._print(f"ended with status {process.returncode}; it starts again")
                quick = time.monotonic() - began < _QUICK_END_SECONDS
                quick_ends = quick_ends + 1 if quick else 0
                if quick_ends >= _MAX_QUICK_ENDS:
                    self._print("keeps ending at once; all parts stop")
                    self._stop.set()
            await copying
        stopping.cancel()

    async def _copy(self, descriptor: int) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), pipe
            )
            while line := await _line(reader):
                self._print(line.decode(errors="backslashreplace").rstrip())
            transport.close()

    def _print(self, line: str) -> None:
        print(self._prefix + line, flush=True)


async def _line(reader: asyncio.StreamReader) -> bytes:
    """Return the next line, or a note for a line that is too long; empty at the end."""
    try:
        return await reader.readline()
    except ValueError:  # too long
        return b"(this line is too long to show)"


async def _end(process: asyncio.subprocess.Process) -> None:
    """Terminate a part; kill it if it does not end in time."""
    if process.returncode is None:
        process.terminate()  # not its children: it ends them in its own order
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    _kill_group(process)
    await process.wait()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
