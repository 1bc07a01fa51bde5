"""A bot in a process without a sandbox, for checks on systems that have no sandbox.

It replaces `bots_sdk.sandbox.session.BotProcess` there. The league never uses it.
"""

import io
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bots_sdk.arena.worker import receive, send
from bots_sdk.bot_files import load
from bots_sdk.choosing import traceback_of
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.sources import Source
from bots_sdk.sandbox.wasm_files import SLOWEST
from bots_sdk.wasm.machine import OutOfFuelError
from engine.faults import NOT_IN_TIME
from engine.games.game import Observation

_ROOT = str(Path(__file__).parents[2])
_START = (
    # The check handles Ctrl-C. This process stays in the check's group, to end with the terminal.
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    f"sys.path.append({_ROOT!r}); from bots_sdk.checking.unconfined import main; main()"
)
_LOAD_SECONDS = 5.0


class _Fuel(NamedTuple):
    """The time of a WebAssembly bot's last move, as its fuel stands for."""

    fuel_seconds: float


class UnconfinedProcess:
    """One bot in one match; see `bots_sdk.sandbox.session.BotProcess`."""

    def __init__(
        self, source: Source, info: dict[str, Any], *, allowance: Callable[[], float]
    ) -> None:
        """Start the process, without waiting for it."""
        self._info = info
        self._allowance = allowance
        # The fuel of a module is its clock. Waiting only ends what the machine is too slow for.
        self._patience = SLOWEST if source.is_module else 1
        self.move_time: _Fuel | None = None
        self._directory = Path(tempfile.mkdtemp(prefix="bot-"))
        for name, data in (source.files or {"bot.py": source.main}).items():
            path = self._directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.printed = ""
        self._unfit: Exception | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def ready(self) -> None:
        """Wait until the bot is loaded.

        Raises:
            BotTimeoutError: loading takes too long.
            BotCrashError: the bot does not load.
        """
        self._loaded(time.monotonic() + self._patience * _LOAD_SECONDS)

    def memory(self) -> int | None:
        """Return None: the memory is not measured."""
        return None

    def close(self) -> None:
        """End the process and remove its files; a second call does nothing."""
        self._end()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move.

        Raises:
            BotTimeoutError: the bot did not answer in time.
            BotCrashError: the bot raised an exception or died.
        """
        deadline = time.monotonic() + self._patience * self._allowance()
        self._loaded(deadline)
        self._send(observation)
        move: str = self._answer(deadline)
        return move

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._directory,
        )
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        reading = (self._process.stdout, self._answers)
        threading.Thread(target=_read, args=reading, daemon=True).start()
        self._ready = False
        self._send((str(self._directory / "bot.py"), self._info))

    def _loaded(self, deadline: float) -> None:
        if self._unfit is not None:
            raise self._unfit
        if self._process is None:
            self._start()
        if not self._ready:
            try:
                limit = time.monotonic() + self._patience * _LOAD_SECONDS
                self._answer(min(deadline, limit))
            except (BotTimeoutError, BotCrashError) as error:
                self._unfit = error
                self._end()
                raise
            self._ready = True

    def _send(self, what: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):  # the missing answer gives the reason
            send(self._process.stdin, what)

    def _answer(self, deadline: float) -> Any:
        try:
            answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            self._end()
            raise BotTimeoutError(NOT_IN_TIME) from None
        if answer is None:
            self._end()
            raise BotCrashError("its process ended")
        self.printed += answer["printed"]
        if answer["fuel_seconds"] is not None:
            self.move_time = _Fuel(answer["fuel_seconds"])
        if "late" in answer:
            raise BotTimeoutError(answer["late"])
        if "failed" in answer:
            raise BotCrashError(answer["failed"])
        return answer["move"]

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def _read(stream: Any, answers: "queue.SimpleQueue[dict[str, Any] | None]") -> None:
    try:
        while True:
            answers.put(receive(stream))
    except (OSError, EOFError, ValueError):
        answers.put(None)


def main() -> None:
    """Load a bot and answer requests until standard input ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)
    choose: Any = None
    while True:
        try:
            request = receive(requests)
        except EOFError:
            return
        printed = io.StringIO()
        move: object = ""
        answer: dict[str, Any]
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                if choose is None:
                    path, info = request
                    choose = load(path)(info)
                else:
                    move = choose(request)
                answer = {"move": _plain(move)}
            except OutOfFuelError as error:  # of a WebAssembly module
                answer = {"late": str(error)}
            except BaseException as error:
                answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
                printed.write(traceback_of(error))
        fuel_seconds = getattr(choose, "charged_seconds", None)  # of a module
        send(answers, {**answer, "printed": printed.getvalue(), "fuel_seconds": fuel_seconds})


def _plain(move: object) -> "str | _NotText":
    """Return an answer that the check can read: it has no class of the bot's file."""
    return str.__str__(move) if isinstance(move, str) else _NotText(ascii(move)[:300])


class _NotText:
    """An answer that is not a text, by its description."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return self.description
