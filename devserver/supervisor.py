"""A supervisor: it starts programs in stages, restarts those that end, and stops all in order."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from devserver import forks, processes
from devserver.forks import ForkedProcess, NotForkedError
from devserver.output import Output
from devserver.part import Part
from devserver.place import ServersError
from devserver.postgres import last_lines
from devserver.sleep import Work

_STEADY_SECONDS = 5.0
"""A part that lives for so long works: then it is started again whenever it ends."""
_MAX_QUICK_ENDS = 5
_MAX_PAUSE_SECONDS = 5.0
_READY_EVERY_SECONDS = 0.02
_ORPHANS_EVERY_SECONDS = 2.0
_MAX_ORPHANS_SECONDS = 10.0
_COLOURS = (36, 32, 33, 35, 34, 31)

Process = asyncio.subprocess.Process | ForkedProcess


class Supervisor:
    """Runs parts until its event is set: by a signal, or by a part that never works.

    Attributes:
        stop: the event that stops all parts.
        failure: why the supervisor stops, None after a signal.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        directory: Path,
        *,
        held: Sequence[int] = (),
        adopts_orphans: bool = False,
        fork_server: Path | None = None,
        output: Output | None = None,
    ) -> None:
        """Create a supervisor.

        Args:
            environment: the variables of the parts.
            directory: their working directory.
            held: descriptors of files that the parts hold open.
            adopts_orphans: whether every child of this process that is no part and has a session
                of its own is an orphan of a part, to be killed.
            fork_server: its socket, for parts that are forked.
            output: takes the lines of the parts; by default all are printed.
        """
        self.environment, self.directory, self.held = environment, directory, held
        self.stop = asyncio.Event()
        self.failure: str | None = None
        self.output = output or Output()
        self.ends = 0
        self._adopts_orphans, self._fork_server = adopts_orphans, fork_server
        self._spawning = asyncio.Lock()
        self._pids: set[int] = set()

    async def run(self, stages: Sequence[Sequence[Part]]) -> None:
        """Start the parts of each stage when those of the stage before it are ready.

        After the event they stop in the opposite order.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.stop.set)
        if self._adopts_orphans:
            processes.adopt_orphans()
        sweeping = asyncio.create_task(self._end_orphans_regularly())
        width = max(len(part.name) for stage in stages for part in stage)
        running: list[list[tuple[_Keeper, asyncio.Task[None]]]] = []
        for stage in stages:
            keepers = [
                _Keeper(part, self, _prefix(sum(map(len, running)) + i, part.name, width))
                for i, part in enumerate(stage)
            ]
            running.append([(each, asyncio.create_task(each.keep())) for each in keepers])
            for each in keepers:
                await _first(each.ready.wait(), self.stop.wait())
            if self.stop.is_set():
                break
        await self.stop.wait()
        self.output.stops = True
        results: list[BaseException | None] = []
        for started in reversed(running):
            for keeper, _ in started:
                keeper.stop.set()
            tasks = (task for _, task in started)
            results += await asyncio.gather(*tasks, return_exceptions=True)
        sweeping.cancel()
        await self.end_orphans()
        for error in filter(None, results):
            raise error

    def fail(self, reason: str) -> None:
        """Stop all parts for a reason."""
        self.failure = self.failure or reason
        self.stop.set()

    async def fork(self, words: Sequence[str], output: int) -> Process:
        """Let the fork server start a part; wait for the server while it starts again itself.

        Raises:
            NotForkedError: the fork server has ended, and all parts stop.
        """
        assert self._fork_server, f"no fork server for {words}"
        while True:
            try:
                async with self._spawning:
                    pid = await asyncio.to_thread(forks.fork, self._fork_server, words, output)
                    self._pids.add(pid)
                    return ForkedProcess(pid)
            except NotForkedError:
                if self.stop.is_set():
                    raise
                await asyncio.sleep(_READY_EVERY_SECONDS)

    async def start(self, words: Sequence[str], output: int) -> Process:
        """Start a program in its own session: Ctrl-C in the terminal does not reach it."""
        async with self._spawning:
            process = await asyncio.create_subprocess_exec(
                *words,
                env=self.environment,
                cwd=self.directory,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self.held,
            )
            self._pids.add(process.pid)
            return process

    async def note_end(self, process: Process) -> None:
        """Kill what a program leaves when it has ended."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        self._pids.discard(process.pid)
        await self.end_orphans()

    async def end_orphans(self) -> None:
        """Kill the descendants whose parent has ended, and their descendants."""
        if not self._adopts_orphans:
            return
        deadline = time.monotonic() + _MAX_ORPHANS_SECONDS
        async with self._spawning:
            while orphans := processes.children_of_other_sessions() - self._pids:
                for pid in orphans:
                    processes.kill(pid)
                    processes.reap(pid)
                if time.monotonic() > deadline:
                    return  # the kernel holds one; the next sweep tries again
                await asyncio.sleep(0.005)

    async def _end_orphans_regularly(self) -> None:
        while True:
            await asyncio.sleep(_ORPHANS_EVERY_SECONDS)
            await self.end_orphans()


class _Keeper:
    """Keeps one part running.

    Attributes:
        stop: the event that stops the part.
        ready: the event that the part has become ready for the first time.
    """

    def __init__(self, part: Part, supervisor: Supervisor, prefix: str) -> None:
        self.stop, self.ready = asyncio.Event(), asyncio.Event()
        self._part, self._supervisor, self._prefix = part, supervisor, prefix
        self._starts = self._quick_ends = 0
        self._works = self._is_quiet = False

    async def keep(self) -> None:
        """Run the part until `stop` is set. If it never works, stop all parts."""
        try:
            while not self.stop.is_set() and await self._run():
                pass
        except ServersError as error:
            self._supervisor.fail(str(error))
        except BaseException:
            self._supervisor.fail(f"{self._part.name} could not be started")
            raise
        finally:
            self._unlink_sockets()

    async def _run(self) -> bool:
        """Run the part once. If it worked before and the system refuses to start it, try again."""
        try:
            return await self._run_once()
        except OSError as error:
            if not self._works:
                raise
            self._print(f"can't be started now; the league tries again: {error}")  # a full disk
            await _first(self.stop.wait(), asyncio.sleep(_MAX_PAUSE_SECONDS))
            return not self.stop.is_set()

    async def _run_once(self) -> bool:
        """Start the part and await its end; return whether to start it again."""
        part = self._part
        part.prepare()
        self._unlink_sockets()
        began, ends_before = time.monotonic(), self._supervisor.ends
        try:
            process, copying = await self._start()
        except NotForkedError:
            return False
        watching = asyncio.create_task(self._watch(began))
        without_work = [part.work.gone.wait()] if part.work else []
        await _first(process.wait(), self.stop.wait(), *without_work)
        watching.cancel()
        falls_asleep = process.returncode is None and not self.stop.is_set()
        self._is_quiet = falls_asleep
        if process.returncode is None:
            await self._end(process)
        await self._supervisor.note_end(process)
        await copying
        if self.stop.is_set():
            return False
        if falls_asleep and part.work:
            return await self._sleep(part.work)
        if part.runs_once:
            return self._runs_again(process.returncode, ends_before)
        self._supervisor.ends += 1
        self._print(f"ended with status {process.returncode}; it starts again")
        return await self._pause(time.monotonic() - began, process.returncode)

    async def _sleep(self, work: Work) -> bool:
        """Wait until the part has work; return whether to start it."""
        self._print("sleeps until it has work")
        work.sleeps = True
        await _first(work.there.wait(), self.stop.wait())
        work.sleeps = False
        return not self.stop.is_set()

    def _runs_again(self, status: int | None, ends_before: int) -> bool:
        """Return whether a program that runs once must run again: a server ended meanwhile."""
        if status == 0:
            self.ready.set()
            return False
        if self._supervisor.ends > ends_before or (status or 0) < 0:
            self._print(f"ended with status {status}; it starts again")
            return True
        self._supervisor.fail(f"{self._part.name} failed; its output is above.")
        return False

    async def _pause(self, lived: float, status: int | None) -> bool:
        """Wait before the next start, longer each time; return False if the part never works."""
        self._works |= lived > _STEADY_SECONDS
        if lived > _STEADY_SECONDS:
            self._quick_ends = 0
        elif status is None or status >= 0:  # a signal from outside is no fault of the program
            self._quick_ends += 1
        if self._quick_ends >= _MAX_QUICK_ENDS and not self._works:
            self._print("ends right after each start, so the league stops")
            reason = f" {last_lines(self._part.log)}" if self._part.log else ""
            self._supervisor.fail(f"{self._part.name} ends right after each start.{reason}")
            return False
        if self._quick_ends > 1:
            seconds = min(0.1 * 2**self._quick_ends, _MAX_PAUSE_SECONDS)
            await _first(self.stop.wait(), asyncio.sleep(seconds))
        return True

    async def _start(self) -> tuple[Process, asyncio.Future[None]]:
        """Start the program; return it, and the task that copies its output."""
        self._starts += 1
        words = self._part.words(self._link_socket())
        start = self._supervisor.fork if self._part.forked else self._supervisor.start
        if self._part.log:
            with self._part.log.open("ab") as log:
                process = await start(words, log.fileno())
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            done.set_result(None)
            return process, done
        # Not asyncio's pipe: its `wait` would also wait for the program's children, which hold
        # the pipe open.
        reading, writing = os.pipe()
        try:
            process = await start(words, writing)
        except (NotForkedError, OSError):
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return process, asyncio.create_task(self._copy(reading))

    def _link_socket(self) -> Path | None:
        """Return a new path to listen on, and make the part's link point there.

        So a program of an earlier start that ends late can't remove the socket of this one.
        """
        if self._part.socket is None:
            return None
        link = self._part.socket
        socket = link.with_name(f"{link.name}.{self._starts}")
        fresh = link.with_name(f"{link.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(socket.name)
        fresh.replace(link)
        return socket

    def _unlink_sockets(self) -> None:
        """Remove the sockets of earlier starts: no process of these is alive."""
        if link := self._part.socket:
            for number in (self._starts - 1, self._starts):
                link.with_name(f"{link.name}.{number}").unlink(missing_ok=True)

    async def _watch(self, began: float) -> None:
        """Note when the part is ready; after a restart, print it."""
        is_ready = self._part.is_ready
        if is_ready is None:
            if self._part.runs_once:
                return
            await asyncio.sleep(_STEADY_SECONDS if self._starts > 1 else 0)
        else:
            while not await asyncio.to_thread(is_ready):
                await asyncio.sleep(_READY_EVERY_SECONDS)
        if self._starts > 1:
            self._print(f"works again, {time.monotonic() - began:.1f} s after its start")
        self._is_quiet = False
        self._works |= is_ready is not None
        self.ready.set()

    async def _end(self, process: Process) -> None:
        """Stop the program by its signal; kill it if it does not end in time."""
        with suppress(ProcessLookupError):
            # A stopped process takes SIGCONT only. It goes first: sent last, it could come after
            # the end of the process and take its status away from asyncio, which then warns.
            process.send_signal(signal.SIGCONT)
            # Not its children: it ends them in its own order.
            process.send_signal(self._part.stop_signal)
        seconds = await asyncio.to_thread(self._part.stop_seconds)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

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
        self._supervisor.output.take(self._prefix, line, routine=self._is_quiet)


def _prefix(index: int, name: str, width: int) -> str:
    label = f"{name:{width}} | "
    colour = _COLOURS[index % len(_COLOURS)]
    return f"\033[{colour}m{label}\033[0m" if sys.stdout.isatty() else label


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait until one of several waits is over, and cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


async def _line(reader: asyncio.StreamReader) -> bytes:
    """Return the next line, or a note for a line that is too long; empty at the end."""
    try:
        return await reader.readline()
    except ValueError:  # too long
        return b"(this line is too long to show)"
