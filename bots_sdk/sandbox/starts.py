"""Two ways to start a bot's process in a jail: a new Python, or a child of a zygote.

A start gives pipes to the process, finds it, and reports how it ends. It reads and writes
no messages on the pipes.
"""

import contextlib
import json
import math
import os
import select
import signal
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from bots_sdk.sandbox import folders, passing, zygotes
from bots_sdk.sandbox.errors import SandboxBrokenError
from bots_sdk.sandbox.jail import Jail, encoded, environment
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.timing import children

_DYING_SECONDS = 5.0
_HANDLE_SECONDS = 10.0
"""The time in which a zygote sends the process descriptor of a child that has locked itself in."""
_BREAKING_SECONDS = 0.5
"""The time in which a zygote's end is found after the end of its child."""
_REQUESTS_OF_A_CHILD = 3


class Start(ABC):
    """A process that was started for a bot.

    Attributes:
        source: the descriptor for the configuration and the bot.
        requests: the descriptor for requests.
        answers: the descriptor of answers.
        output: the descriptor of the bot's output.
        config: what the process reads first.
        exit_code: how it ended, as a shell or `subprocess` reports it; None before, or if nothing
            reported it.
    """

    config: bytes
    exit_code: int | None = None

    def __init__(self) -> None:
        """Open the pipes.

        Raises:
            OSError: there are too many descriptors.
        """
        self._ours: set[int] = set()
        self._theirs: list[int] = []
        try:
            # These are close-on-exec, so bots that start meanwhile don't inherit them.
            self.source, self.requests = self._pipe_to_bot(), self._pipe_to_bot()
            self.answers, self.output = self._pipe_from_bot(), self._pipe_from_bot()
        except OSError:
            self.close()
            raise

    def _pipe_to_bot(self) -> int:
        theirs, ours = os.pipe()
        return self._kept(ours, theirs)

    def _pipe_from_bot(self) -> int:
        ours, theirs = os.pipe()
        return self._kept(ours, theirs)

    def _kept(self, ours: int, theirs: int) -> int:
        self._ours.add(ours)
        self._theirs.append(theirs)
        os.set_blocking(ours, False)
        return ours

    @abstractmethod
    def find_processes(self) -> list[int]:
        """Return the processes that the bot pays for, the bot's own last; none if they ended."""

    @abstractmethod
    def has_ended(self, seconds: float) -> bool:
        """Return whether the process has ended after some seconds at most."""

    @abstractmethod
    def fault(self) -> str | None:
        """Return why the sandbox, not the bot, ended the process; None if it did not."""

    @abstractmethod
    def may_begin_again(self) -> bool:
        """Return whether a start that did not succeed may succeed with a new zygote."""

    @abstractmethod
    def kill(self, *, is_dying: bool) -> None:
        """Kill the process and wait until it is gone.

        Args:
            is_dying: whether the bot's own process has been killed.
        """

    def close_source(self) -> None:
        """Close the descriptor `source`, so that the process finds its end."""
        self._ours.discard(self.source)
        os.close(self.source)

    def close(self) -> None:
        """Close all descriptors."""
        self._close_theirs()
        while self._ours:
            os.close(self._ours.pop())

    def _close_theirs(self) -> None:
        while self._theirs:
            os.close(self._theirs.pop())


def begin(
    jail: Jail, *, directory: Path | None, libraries: tuple[str, ...], limits: Limits
) -> Start:
    """Start a process for a bot, without waiting for it.

    Args:
        jail: the jail.
        directory: the directory of the bot's files, if it has more than one.
        libraries: the names of the libraries that the bot gets.
        limits: the limits of the bot.

    Raises:
        SandboxBrokenError: the process can't be started.
    """
    start = ForkedStart if jail.forks else FreshStart
    try:
        return start(jail, directory=directory, libraries=libraries, limits=limits)
    except (OSError, ValueError) as error:
        raise SandboxBrokenError(f"the sandbox can't be started: {error}") from error


class FreshStart(Start):
    """A new Python, in tier 1 under bubblewrap."""

    def __init__(
        self, jail: Jail, *, directory: Path | None, libraries: tuple[str, ...], limits: Limits
    ) -> None:
        """Start the process.

        Raises:
            OSError: it can't be started.
        """
        super().__init__()
        self._jail = jail
        try:
            source, requests, answers, output = self._theirs
            self._status = self._pipe_from_bot()
            status = self._theirs[-1]
            self._popen = subprocess.Popen(
                jail.command(status=status, directory=directory, libraries=libraries),
                stdin=source,
                stdout=answers,
                stderr=output,
                env=environment(),
                cwd="/",
                pass_fds=[requests, status] if jail.bubblewrap else [requests],
                process_group=0,  # signals to the worker's group must not reach it
            )
        except BaseException:
            self.close()
            raise
        self._close_theirs()
        own = jail.own_config(requests=requests, directory=directory, limits=limits)
        self.config = encoded({**jail.config(run="harness", libraries=libraries), "own": own})

    def find_processes(self) -> list[int]:  # noqa: D102 - as in `Start`
        found = [self._popen.pid]
        while below := children(found[-1]):
            found.append(below[0])
        # Bubblewrap waits for the first process of the namespace, which waits for the harness.
        return found[2:] if self._jail.bubblewrap else found

    def has_ended(self, seconds: float) -> bool:  # noqa: D102
        if self._popen.poll() is None:
            handle = os.pidfd_open(self._popen.pid)
            try:
                _wait_readable(handle, seconds)
            finally:
                os.close(handle)
        self.exit_code = self._popen.poll()
        return self.exit_code is not None

    def fault(self) -> str | None:  # noqa: D102
        # A bot's own end is bubblewrap's exit status; a bot can't send signals to bubblewrap.
        if self._jail.bubblewrap and self.exit_code is not None and self.exit_code < 0:
            return f"bubblewrap was ended by signal {-self.exit_code}"
        return None

    def may_begin_again(self) -> bool:  # noqa: D102
        return False

    def kill(self, *, is_dying: bool) -> None:  # noqa: D102
        if is_dying and self.has_ended(_DYING_SECONDS):
            return  # the processes around the bot's have ended too
        if self._popen.poll() is None and (child := self._namespace_init()) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)  # with it goes the namespace, then bubblewrap
            if self.has_ended(_DYING_SECONDS):
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


class ForkedStart(Start):
    """A child of a zygote: in tier 1 the bot, in tier 2 its file broker.

    The zygote sends the child's process descriptor over a socket, and later a report of its end.
    """

    def __init__(
        self, jail: Jail, *, directory: Path | None, libraries: tuple[str, ...], limits: Limits
    ) -> None:
        """Ask a zygote for a child; start the zygote if there is none.

        Raises:
            OSError: the zygote can't be started.
        """
        super().__init__()
        self._jail = jail
        self._child: int | None = None
        self._is_reported = False
        try:
            self._reports = self._kept(*passing.socket_pair())
            folder = directory.parent if directory else folders.folder_of_process()
            self._zygote = zygotes.ask(jail, folder, libraries, self._theirs)
        except BaseException:
            self.close()
            raise
        self._close_theirs()
        own = jail.own_config(requests=_REQUESTS_OF_A_CHILD, directory=directory, limits=limits)
        self.config = encoded(own)

    def find_processes(self) -> list[int]:  # noqa: D102 - as in `Start`
        # The child may lock itself in before the zygote has run again and sent its descriptor.
        handle = self._child_handle(_HANDLE_SECONDS)
        pid = None if handle is None else _pid(handle)
        if pid is None:
            return []
        if self._jail.bubblewrap:
            return [pid]
        below = children(pid)
        return [pid, *below] if below else []

    def has_ended(self, seconds: float) -> bool:  # noqa: D102
        if self.exit_code is not None or self._child_handle(seconds) is None:
            return self.exit_code is not None
        if _wait_readable(self._reports, seconds):
            report, _ = passing.receive(self._reports)
            self.exit_code = report[0] if report else -signal.SIGKILL
            self._is_reported = bool(report)
        return self.exit_code is not None

    def fault(self) -> str | None:  # noqa: D102
        if self._zygote.has_ended(_BREAKING_SECONDS):
            return f"the zygote ended: {self._zygote.reason()}"
        if self.exit_code is None or self._is_reported:
            return None
        # A bot can end neither its file broker nor its zygote, so something outside did.
        return "the bot's process ended without a report"

    def may_begin_again(self) -> bool:  # noqa: D102
        return self._child_handle() is None or self._zygote.has_ended(0)

    def kill(self, *, is_dying: bool) -> None:  # noqa: D102
        child = self._child_handle(_DYING_SECONDS)
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(child, signal.SIGKILL)  # the kernel kills a broker's bot
            if not is_dying:  # else it is over, and the kernel needs long to remove namespaces
                _wait_readable(child, _DYING_SECONDS)
        elif self.exit_code is None:
            self._zygote.kill()  # it hangs

    def _child_handle(self, seconds: float = 0.0) -> int | None:
        """Return the process descriptor of the child; None if it did not come in time.

        If the socket ends first, the start has failed, and `exit_code` is set.
        """
        if (
            self._child is None
            and self.exit_code is None
            and _wait_readable(self._reports, seconds)
        ):
            _, handles = passing.receive(self._reports)
            if handles:
                self._child = handles[0]
                self._ours.add(handles[0])
            else:
                self.exit_code = -signal.SIGKILL
        return self._child


def _wait_readable(descriptor: int, seconds: float) -> bool:
    """Return whether a descriptor has data, or its end, after some seconds at most."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(math.ceil(seconds * 1000)))


def _pid(handle: int) -> int | None:
    """Return the process id behind a process descriptor, as this process sees it."""
    for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pid":
            return int(value) if int(value) > 0 else None
    return None
