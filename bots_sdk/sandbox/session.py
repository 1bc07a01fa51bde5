"""A bot's session for one match, which separates the bot's faults from failures of the jail."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from bots_sdk.installing import install_command
from bots_sdk.invoking import python_word
from bots_sdk.sandbox import folders, libraries, wasm_files
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError, SandboxBrokenError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.messages import FOREIGN_DATA, failure, framed, parsed
from bots_sdk.sandbox.process import JailedProcess
from bots_sdk.sandbox.sources import Source
from bots_sdk.sandbox.timing import MoveTime, MoveTimer
from bots_sdk.sandbox.wasm_files import SLOWEST
from bots_sdk.wasm.machine import fuel_of, seconds_of
from engine.games.game import Observation

_SPARE_SECONDS = 10.0
"""Time that a WebAssembly bot's process may take beside its fuel."""
_FORMS = ({"move"}, {"other"}, {"failed", "kind"})


class NotText:
    """An answer that is not a text, by its description; the referee refuses it."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return self.description


class BotProcess:
    """One bot in one match, as a player for `engine.referee.play`.

    Faults of the bot raise `BotTimeoutError`, `BotCrashError` or `BotMemoryError`. Failures of the
    jail raise `SandboxBrokenError`, which ends the match without a result.

    A bot that raises an exception keeps its process and its memory. If a bot is too late, dies or
    breaks the protocol, its process ends. The next turn starts a new process, and the start counts
    as the bot's time. A bot that does not load is not started again.

    The bot is paused from its answer to its next observation. The process dies with the
    worker, and without a zygote with the thread that started it.

    Attributes:
        move_time: the time of the last move, faults included; None before the first.
    """

    def __init__(
        self,
        jail: Jail,
        source: Source,
        info: dict[str, Any],
        *,
        allowance: Callable[[], float],
        limits: Limits | None = None,
    ) -> None:
        """Start the process, without waiting for it.

        Args:
            jail: the jail, proven by `canary.prove`.
            source: the source of the bot.
            info: the argument of the bot's ``start``.
            allowance: returns how many seconds it has for a move now.
            limits: what it may use; see `limits_of`.

        Raises:
            SandboxBrokenError: the process can't be started.
        """
        self._is_module = source.is_module
        if self._is_module and not wasm_files.places():
            raise SandboxBrokenError(
                "the package wasmtime, which runs WebAssembly bots, is not installed; install it "
                f"with `{install_command(python_word(), 'wasmtime')}`"
            )
        self._jail = jail
        self._source = source
        self._info = info
        self._allowance = allowance
        self._libraries = libraries.named_in(source)
        self._limits = limits_of(source, limits or Limits())
        self.move_time: MoveTime | None = None
        self._log = bytearray()
        self._unfit: Exception | None = None
        self._asked = 0
        self._directory = _laid_out(source)
        self._process: JailedProcess | None = None
        try:
            self._process = self._spawn()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "BotProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def printed(self) -> str:
        """The output of the bot so far, up to a limit."""
        if self._process is not None and self._process.ready:
            self._process.drain()
        return self._log.decode("utf-8", "replace")

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that the bot pays for, its own last; empty before it is loaded."""
        return () if self._process is None else self._process.process_ids

    @property
    def directory(self) -> Path | None:
        """The directory of the bot's files, if it has more than one."""
        return self._directory

    def memory(self) -> int | None:
        """Return the most memory that it filled so far, in bytes; None if it is unknown.

        `Limits.data_bytes` limits it.
        """
        return None if self._process is None else self._process.memory()

    def resident(self) -> int:
        """Return the bytes of memory that its processes take now."""
        return 0 if self._process is None else self._process.resident()

    def ready(self) -> None:
        """Wait until the bot is loaded, so that loading takes no time from its first move.

        Raises:
            BotTimeoutError: loading takes too long.
            BotCrashError: the bot does not load.
            SandboxBrokenError: the jail can't be set up.
        """
        timer = MoveTimer(float("inf"))
        self._loaded(timer)
        timer.close()

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move.

        Raises:
            BotTimeoutError: the bot did not answer in time.
            BotCrashError: the bot raised an exception, died, or broke the protocol.
            SandboxBrokenError: the jail failed.
        """
        seconds = self._allowance()
        fuel = fuel_of(seconds) if self._is_module else None
        timer = MoveTimer(seconds if fuel is None else seconds * SLOWEST + _SPARE_SECONDS)
        used = 0
        try:
            process = self._loaded(timer)
            self._asked += 1
            request: dict[str, Any] = {"id": self._asked, "choose": observation}
            if fuel is not None:
                request["fuel"] = fuel
            try:
                answer = parsed(process.ask(framed(request), timer))
                used = _check(answer, self._asked, fuel)
            except (BotTimeoutError, BotCrashError) as error:
                timer.close()  # while the process is there
                self._end()
                if fuel is not None and isinstance(error, BotTimeoutError):
                    raise SandboxBrokenError(
                        "the machine is too slow: a WebAssembly bot took more than "
                        f"{SLOWEST} times the CPU time that its fuel stands for"
                    ) from None
                raise
            except SandboxBrokenError:  # the next turn starts a new process
                timer.close()
                self._end()
                raise
        finally:
            self.move_time = timer.close()
            if fuel is not None:
                self.move_time = self.move_time._replace(fuel_seconds=seconds_of(used))
        if "move" in answer:
            return str(answer["move"])
        if "other" in answer:
            return NotText(answer["other"])  # type: ignore[return-value]
        raise failure(answer, self._limits)

    def close(self) -> None:
        """End the process and remove its files; a second call does nothing."""
        self._end()
        if self._directory is not None:
            folders.remove(self._directory)
            self._directory = None

    def _spawn(self) -> JailedProcess:
        return JailedProcess(
            self._jail,
            self._source.main,
            self._info,
            directory=self._directory,
            libraries=self._libraries,
            limits=self._limits,
            log=self._log,
        )

    def _loaded(self, timer: MoveTimer) -> JailedProcess:
        """Return the process once its bot is loaded; start a new one if the last one ended."""
        if self._unfit is not None:
            raise self._unfit
        if self._process is None:
            self._process = self._spawn()
        if not self._process.ready:
            try:
                self._process.wait_ready(timer)
            except (BotTimeoutError, BotCrashError) as error:
                if timer.left() > 0:
                    self._unfit = type(error)(*error.args)
                timer.close()
                self._end()
                raise
            except SandboxBrokenError:
                self._end()
                raise
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.end()


def limits_of(source: Source, limits: Limits) -> Limits:
    """Return the limits of a bot: other ones for WebAssembly, more with libraries."""
    if source.is_module:
        return limits.of_module()
    return limits.with_libraries(libraries.named_in(source))


def _check(answer: dict[str, Any], asked: int, fuel: int | None) -> int:
    """Raise unless an answer has the form of the harness and belongs to the request.

    Args:
        answer: the answer; without its id and fuel afterwards.
        asked: the id of the request.
        fuel: the fuel that a WebAssembly bot had; None for others.

    Returns:
        The fuel that the bot used; 0 for others.
    """
    number = answer.pop("id", None)
    used = answer.pop("fuel", None) if fuel is not None else 0
    if type(number) is not int or number != asked:
        raise BotCrashError(FOREIGN_DATA)
    if type(used) is not int or not 0 <= used <= (fuel or 0):
        raise BotCrashError(FOREIGN_DATA)
    if answer.keys() not in _FORMS or not all(isinstance(value, str) for value in answer.values()):
        raise BotCrashError(FOREIGN_DATA)
    return used


def _laid_out(source: Source) -> Path | None:
    """Return a new directory with the files of a bot that has more than one."""
    if not source.files:
        return None
    try:
        return folders.new_folder(source.files)
    except OSError as error:
        raise SandboxBrokenError(
            f"the bot's files can't be written for its sandbox: {error}"
        ) from error
