"""A bot's session of one match: what the referee asks, and what of it is the bot's own fault."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError, SandboxBrokenError
from bots_sdk.sandbox.jail import Jail, Limits
from bots_sdk.sandbox.process import JailedProcess, failure, parsed
from bots_sdk.sandbox.sources import Source
from engine.errors import quote
from engine.games.game import Observation

_FORMS = ({"move"}, {"other"}, {"failed", "kind"})


class NoText:
    """What a bot answered that is no text, as it describes it; the referee refuses it."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return self.description


class BotProcess:
    """One bot in one match, as a player for `engine.referee.play`.

    What the bot does wrong is raised as a fault of its own (`BotTimeoutError`, `BotCrashError`,
    `BotMemoryError`); what goes wrong with the jail as `SandboxBrokenError`, which ends the match
    without a result.

    A bot that raises goes on with what it knows. One that was too late, died or broke the protocol
    is ended, and started anew when it is asked again, having forgotten all; that counts as its
    thinking time. One that could not be loaded is not tried again.

    Its process dies with the thread that started it.
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
        """Start the process, and don't wait for it.

        Args:
            jail: to run it in, one that `canary.prove` found to hold.
            source: of the bot.
            info: what its ``start`` is told.
            allowance: returns how many seconds it has for a move now.
            limits: what it may use.

        Raises:
            SandboxBrokenError: the process can't be started.
        """
        self._jail = jail
        self._source = source
        self._info = info
        self._allowance = allowance
        self._limits = limits or Limits()
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
        """What the bot has printed so far, up to a limit."""
        if self._process is not None and self._process.ready:
            self._process.drain()
        return self._log.decode("utf-8", "replace")

    def memory(self) -> int | None:
        """Return the bytes of address space that its process needed so far, None if nobody knows.

        That is what `Limits.memory_bytes` bounds.
        """
        return None if self._process is None else self._process.memory()

    def ready(self) -> None:
        """Wait until the bot is loaded, so that this takes no time from its first move.

        Raises:
            BotTimeoutError: it is not done with that in time.
            BotCrashError: it can't be loaded.
            SandboxBrokenError: the jail can't be set up.
        """
        self._loaded(float("inf"))

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move.

        Raises:
            BotTimeoutError: there was none in time.
            BotCrashError: it raised, died, or broke the protocol.
            SandboxBrokenError: the jail was taken away.
        """
        deadline = time.monotonic() + self._allowance()
        process = self._loaded(deadline)
        self._asked += 1
        request = json.dumps({"id": self._asked, "choose": observation}).encode() + b"\n"
        try:
            answer = parsed(process.ask(request, deadline))
            _check(answer, self._asked)
        except (BotTimeoutError, BotCrashError):
            self._end()
            raise
        if "move" in answer:
            return str(answer["move"])
        if "other" in answer:
            return NoText(answer["other"])  # type: ignore[return-value]
        raise failure(answer, self._limits)

    def close(self) -> None:
        """End the process and remove its files; may be called again."""
        self._end()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    def _spawn(self) -> JailedProcess:
        return JailedProcess(
            self._jail,
            self._source.main,
            self._info,
            directory=self._directory,
            limits=self._limits,
            log=self._log,
        )

    def _loaded(self, deadline: float) -> JailedProcess:
        """Return the process once its bot is loaded; a new one if the last was ended."""
        if self._unfit is not None:
            raise self._unfit
        if self._process is None:
            self._process = self._spawn()
        if not self._process.ready:
            try:
                self._process.wait_ready(deadline)
            except (BotTimeoutError, BotCrashError) as error:
                if time.monotonic() < deadline:
                    self._unfit = type(error)(*error.args)
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


def _check(answer: dict[str, Any], asked: int) -> None:
    """Raise unless an answer has the form that the harness gives it, to what was asked."""
    number = answer.pop("id", None)
    if type(number) is not int or number != asked:
        raise BotCrashError(f"it answered to {quote(number)} when it was asked {asked}")
    if answer.keys() not in _FORMS or not all(isinstance(value, str) for value in answer.values()):
        raise BotCrashError("it wrote into the protocol instead of returning a move")


def _laid_out(source: Source) -> Path | None:
    """Return a new directory with the files of a bot that has more than one."""
    if not source.files:
        return None
    try:
        directory = Path(tempfile.mkdtemp(prefix="bot-"))
        for name, data in source.files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for path in (directory, *directory.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    except OSError as error:
        raise SandboxBrokenError(f"the bot's files can't be laid out: {error}") from error
    return directory
