"""A pool of processes that play fixtures, each with a thread that sends it the next one."""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from bots_sdk.arena.errors import ArenaError
from bots_sdk.arena.matches import Fixture, PlayedMatch
from bots_sdk.arena.worker import LoadFailure, WorkerFailure, WorkerSetup, receive, send
from bots_sdk.bot_errors import BotFileError

_ROOT = str(Path(__file__).parents[2])
_START = f"import sys; sys.path.append({_ROOT!r}); from bots_sdk.arena.worker import main; main()"
_WAKE_SECONDS = 0.5
"""The longest wait without a check for signals, on systems where a signal does not end a wait."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """Processes that play matches. Use a pool once, in a ``with``; its end ends the processes.

    Attributes:
        changed: files beside the bots that changed while matches were played: the bots of later
            matches were others.
    """

    def __init__(self, setup: WorkerSetup, jobs: int) -> None:
        """Create a pool; entering it starts the processes.

        Args:
            setup: the match type and the contestants.
            jobs: the number of processes.
        """
        self._setup = setup
        self._jobs = jobs
        self._workers: list[subprocess.Popen[bytes]] = []
        self._fixtures: Iterator[Fixture] = iter(())
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self.changed: set[str] = set()
        self._done: queue.SimpleQueue[PlayedMatch | Exception | None] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        for _ in range(self._jobs):
            self._workers.append(
                subprocess.Popen(
                    # -P: a random.py in the working directory must not replace Python's.
                    [sys.executable, "-P", "-c", _START],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,  # Ctrl-C must not reach the processes
                )
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.wait()

    def play(self, fixtures: Iterable[Fixture]) -> Iterator[PlayedMatch]:
        """Yield the matches in the order in which they end.

        Raises:
            BotFileError: a contestant's file is not a bot.
            ArenaError: a bot ended its process.
        """
        self._fixtures = iter(fixtures)
        for worker in self._workers:
            threading.Thread(target=self._serve, args=(worker,), daemon=True).start()
        working = len(self._workers)
        while working:
            try:
                done = self._done.get(timeout=_WAKE_SECONDS)
            except queue.Empty:
                continue
            if done is None:
                working -= 1
            elif isinstance(done, Exception):
                raise done
            else:
                self.changed.update(done.changed)
                yield done

    def _serve(self, worker: "subprocess.Popen[bytes]") -> None:
        """Send a worker one fixture after the other."""
        assert worker.stdin is not None
        assert worker.stdout is not None
        fixture = None
        try:
            send(worker.stdin, self._setup)
            self._take(worker.stdout)
            while not self._ended.is_set() and (fixture := self._next()) is not None:
                send(worker.stdin, fixture)
                played = self._take(worker.stdout)
                if played is not None:
                    self._done.put(played)
            self._done.put(None)
        except (OSError, EOFError, ValueError):
            if not self._ended.is_set():
                self._done.put(ArenaError(self._death(worker, fixture)))
        except Exception as error:
            self._done.put(error)
        finally:
            for pipe in (worker.stdin, worker.stdout):
                with suppress(OSError):
                    pipe.close()

    def _next(self) -> Fixture | None:
        with self._turn:
            return next(self._fixtures, None)

    def _take(self, stream: IO[bytes]) -> PlayedMatch | None:
        """Return the match that a worker played, or None for its first message."""
        answer = receive(stream)
        if isinstance(answer, LoadFailure):
            raise BotFileError(answer.reason)
        if isinstance(answer, WorkerFailure):
            raise RuntimeError(f"the program that plays the matches failed:\n{answer.traceback}")
        return cast("PlayedMatch | None", answer)

    def _death(self, worker: "subprocess.Popen[bytes]", fixture: Fixture | None) -> str:
        """Return a message about the end of a worker."""
        status = worker.wait()
        how = f"with exit status {status}"
        if status < 0:
            how = f"by {signal.Signals(-status).name}"
        where = "while the bots were loading" if fixture is None else f"in match {fixture.number}"
        playing = [each.name for each in self._setup.contestants if each.path is not None]
        return (
            f"The process that plays matches ended {how} {where}. One of the bots ended it "
            f"({', '.join(playing) or 'all are house bots'}). Check for os._exit, a crash in "
            "an extension module, or too much memory."
        )
