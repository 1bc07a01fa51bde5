"""The time of a bot: pauses its processes while it is not to move, and measures a move.

A bot pays for the time in which it could run: its CPU time, or the time that passed without the
time in which it waited for a CPU, whichever is longer. All figures come from the kernel and are
read outside the jail.
"""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

MAX_WAITED_SECONDS = 60.0
"""The longest time by which waiting for a CPU prolongs a move."""

_CHECK_SECONDS = 0.02
"""The pause between two checks of a bot that is out of time but may be waiting for a CPU."""
_DYING_SECONDS = 5
_CPU_OF_ALL_THREADS = 2  # CPUCLOCK_SCHED of the kernel, for a whole process


class MoveTime(NamedTuple):
    """The time of one move.

    Attributes:
        wall_seconds: from the observation to the answer.
        cpu_seconds: CPU time of all threads, since the bot's last answer.
        waited_seconds: time in which the bot or its referee was ready to run but had no CPU.
        fuel_seconds: the seconds that the fuel of a WebAssembly bot stands for; None for others.
    """

    wall_seconds: float
    cpu_seconds: float
    waited_seconds: float
    fuel_seconds: float | None = None

    @property
    def charged_seconds(self) -> float:
        """The seconds that count against the bot's clock."""
        if self.fuel_seconds is not None:
            return self.fuel_seconds
        return max(self.cpu_seconds, self.wall_seconds - self.waited_seconds)


class Meter:
    """Pauses and resumes the processes of one bot, and reads their times from the kernel.

    The signals go to process descriptors, so they never reach another process. A bot has no call
    that could resume it.

    Attributes:
        pids: the processes.
        charged_cpu: the CPU seconds that earlier moves and the start took.
    """

    def __init__(self, pids: Iterable[int]) -> None:
        """Open the processes.

        Raises:
            OSError: a process is gone.
        """
        self.pids = tuple(pids)
        self.charged_cpu = 0.0
        self._handles: list[int] = []
        self._paused = False
        self._schedules: list[int] = []
        try:
            for pid in self.pids:
                self._handles.append(os.pidfd_open(pid))
                with contextlib.suppress(OSError):  # a kernel without these figures
                    path = f"/proc/{pid}/schedstat"
                    self._schedules.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            self.close()
            raise

    def pause(self) -> None:
        """Stop the processes."""
        self._signal(signal.SIGSTOP)
        self._paused = True

    def resume(self) -> None:
        """Let the processes run again."""
        if self._paused:
            self._signal(signal.SIGCONT)
            self._paused = False

    def kill(self) -> None:
        """Kill the last process, in which the bot runs, and resume those around it.

        Wait until the last process has ended.
        """
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handles[-1], signal.SIGKILL)
        self.resume()
        poll = select.poll()
        poll.register(self._handles[-1], select.POLLIN)
        poll.poll(_DYING_SECONDS * 1000)

    def cpu(self) -> float:
        """Return the CPU time of the processes so far, in seconds."""
        try:
            return sum(map(_cpu_seconds, self.pids))
        except OSError:  # a process is gone
            return self.charged_cpu

    def waited(self) -> float:
        """Return how long the processes have waited for a CPU so far, in seconds."""
        return sum(map(_waited_seconds, self._schedules))

    def is_runnable(self) -> bool:
        """Return whether a process runs or waits for a CPU."""
        return any(_state(pid) == "R" for pid in self.pids)

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (*self._handles, *self._schedules):
            os.close(descriptor)
        self._handles.clear()
        self._schedules.clear()

    def _signal(self, number: signal.Signals) -> None:
        for handle in self._handles:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, number)


class MoveTimer:
    """Measures one move, and limits it to the seconds that the bot has left."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        """Start to measure.

        Args:
            seconds: the seconds that may be charged.
            now: the wall clock.
        """
        self._limit = seconds
        self._now = now
        self._began = now()
        self._meter: Meter | None = None
        self._waited_before = 0.0
        self._own_before = _own_waited()
        self._checked: tuple[float, float] | None = None
        self._final: MoveTime | None = None

    def begin_again(self) -> None:
        """Forget the time so far, which was no fault of the bot."""
        self._began = self._now()
        self._own_before = _own_waited()

    def limited(self, seconds: float) -> "MoveTimer":
        """Return a timer that starts now, and ends with this one at the latest."""
        return MoveTimer(min(seconds, self._limit - self.read().charged_seconds), self._now)

    def watch(self, meter: Meter, *, new: bool = False) -> None:
        """Measure the processes of a bot from now on; if they are new, from their start."""
        if self._meter is None:
            self._meter = meter
            self._waited_before = 0.0 if new else meter.waited()

    def read(self) -> MoveTime:
        """Return the time so far."""
        wall = self._now() - self._began
        waited = _own_waited() - self._own_before
        if self._meter is None:
            return MoveTime(wall, 0.0, min(wall, waited))
        waited += self._meter.waited() - self._waited_before
        cpu = self._meter.cpu() - self._meter.charged_cpu
        return MoveTime(wall, cpu, min(wall, waited))

    def close(self) -> MoveTime:
        """Return the time of the move, and stop; CPU time from now on belongs to the next move."""
        if self._final is None:
            self._final = self.read()
            if self._meter is not None:
                self._meter.charged_cpu += self._final.cpu_seconds
        return self._final

    def left(self) -> float:
        """Return the seconds until the next check; 0 or less if the bot is out of time.

        The kernel adds a wait for a CPU when it is over. So a bot that seems to be out of time
        goes on if it is runnable and has not run since the last check.
        """
        wall = self._now() - self._began
        if wall < self._limit:
            return self._limit - wall
        spent = self.read()
        left = self._limit - spent.charged_seconds
        if spent.wall_seconds > self._limit + MAX_WAITED_SECONDS:
            return 0.0
        if left > 0:
            self._checked = None
            return max(left, _CHECK_SECONDS)
        if self._meter is None or spent.cpu_seconds >= self._limit:
            return left
        progress = (spent.cpu_seconds, self._meter.waited())  # not of the referee's own thread
        before, self._checked = self._checked, progress
        if self._meter.is_runnable() and (before is None or before == progress):
            return _CHECK_SECONDS
        return left


def children(pid: int) -> list[int]:
    """Return the children of a process; none if it is gone."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _cpu_seconds(pid: int) -> float:
    return time.clock_gettime(~pid << 3 | _CPU_OF_ALL_THREADS)


def _waited_seconds(schedule: int) -> float:
    """Return the second figure of a schedstat file, in seconds; 0 if the process is gone."""
    try:
        return int(os.pread(schedule, 100, 0).split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _state(pid: int) -> str:
    """Return the letter of a process's state; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class _OwnSchedule:
    """The schedstat file of a thread, closed at the end of the thread."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.descriptor: int | None = None
        with contextlib.suppress(OSError):
            path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


_of_thread = threading.local()


def _own_waited() -> float:
    """Return how long this thread has waited for a CPU so far, in seconds."""
    own: _OwnSchedule | None = getattr(_of_thread, "schedule", None)
    if own is None or own.pid != os.getpid():  # after a fork the file would be the parent's
        own = _of_thread.schedule = _OwnSchedule()
    return 0.0 if own.descriptor is None else _waited_seconds(own.descriptor)
