"""Keeping programs running: what ends by itself is started again, and all end in order."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_STOP_SECONDS = 15.0
_QUICK_END_SECONDS = 5.0
_MOST_QUICK_ENDS = 5
_COLOURS = (36, 32, 33, 35, 34, 31)


class Part(NamedTuple):
    """A program to keep running, by the name that its output is marked with."""

    name: str
    command: Sequence[str | Path]


async def keep_running(
    parts: Sequence[Part], environment: Mapping[str, str], directory: Path, stop: asyncio.Event
) -> None:
    """Run programs until told to stop by the event, or by a signal, which sets it.

    Args:
        parts: the programs.
        environment: their variables.
        directory: where they run.
        stop: set when all are to end; set here when one keeps ending at once.
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
        """Keep the part running until told to stop; give up if it keeps ending at once."""
        quick_ends = 0
        stopping = asyncio.create_task(self._stop.wait())
        while not self._stop.is_set():
            began = time.monotonic()
            # A group of its own: Ctrl-C in the terminal reaches it through us alone, in order.
            process = await asyncio.create_subprocess_exec(
                *map(str, self._part.command),
                env=self._environment,
                cwd=self._directory,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
            copying = asyncio.create_task(self._copy(process))
            ended = asyncio.create_task(process.wait())
            await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                await _end(process)
            else:
                _kill_group(process)  # its children must not stand in the way of the next
                self._say(f"ended with status {process.returncode}, starting again")
                quick = time.monotonic() - began < _QUICK_END_SECONDS
                quick_ends = quick_ends + 1 if quick else 0
                if quick_ends >= _MOST_QUICK_ENDS:
                    self._say("ends again and again; stopping everything")
                    self._stop.set()
            await copying
        stopping.cancel()

    async def _copy(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._say(line.decode(errors="backslashreplace").rstrip())

    def _say(self, line: str) -> None:
        print(self._prefix + line, flush=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a part, first kindly."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    _kill_group(process)
    await process.wait()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
