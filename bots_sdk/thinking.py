"""Asking a bot for a move: in a thread, its answer checked, its faults kept for its author."""

import asyncio
import json
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from engine.errors import quote
from engine.games import catalogue
from engine.games.game import Observation

Given = TypeVar("Given")
Result = TypeVar("Result")

_MAX_SAVED = 100


class BotFaultError(Exception):
    """A bot did not give a move; the message says why in one line.

    Attributes:
        kind: ``crash``, ``illegal`` or ``slow``.
        traceback: of what it raised, for a crash.
    """

    def __init__(self, kind: str, reason: str, traceback: str = "") -> None:
        self.kind = kind
        self.traceback = traceback
        super().__init__(reason)


async def in_thread(function: Callable[[Given], Result], given: Given) -> Result:
    """Return what a bot's code gives, from a thread that nothing waits for at the end.

    Raises:
        BotFaultError: it raised.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BotFaultError | None) -> None:
        if outcome.done():
            return
        if error is None:
            outcome.set_result(result)  # type: ignore[arg-type]
        else:
            outcome.set_exception(error)

    def work() -> None:
        result, fault = None, None
        try:
            result = function(given)
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
            fault = BotFaultError("crash", reason, traceback_of(error))
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, fault)

    threading.Thread(target=work, name="bot", daemon=True).start()
    return await outcome


def traceback_of(error: BaseException) -> str:
    """Return an error's traceback without the frames of those who asked."""
    here = Path(__file__).parent
    frames = traceback.TracebackException.from_exception(error)
    while frames.stack and Path(frames.stack[0].filename).parent in (
        here,
        here / "arena",
        here / "checking",
    ):
        del frames.stack[0]
    return "".join(frames.format())


def checked(answer: object, observation: Observation) -> str:
    """Return the legal move that a bot's answer is, or raise `BotFaultError`."""
    legal: list[str] = observation["legal_moves"]
    if not isinstance(answer, str):
        raise BotFaultError("illegal", f"a move is a text, not {quote(answer)}")
    if answer not in legal:
        with suppress(ValueError):  # no such game here, or no such move in it
            moves = catalogue.find(observation["game"]).moves
            answer = moves.texts[moves.parse(answer)]
    if answer not in legal:
        raise BotFaultError("illegal", f"{quote(answer)} is none of the legal moves")
    return answer


class Kept(NamedTuple):
    """Where a fault's file is, None where there is none, and what is told of it."""

    path: Path | None
    told: str


class FaultFiles:
    """Observations that a bot had no good answer to, each a file: ready to become a test."""

    def __init__(self, directory: Path, bot: Path) -> None:
        """Write nothing yet.

        Args:
            directory: made when it is needed.
            bot: the bot's file, after which theirs are named.
        """
        self._directory, self._bot = directory, bot
        self._left = _MAX_SAVED

    def save(self, fault: dict[str, Any], where: str) -> Kept:
        """Write what is known of a fault, unless there are many already.

        Args:
            fault: JSON data.
            where: it was, for the file's name.
        """
        if not self._left:
            return Kept(None, f"its observation is not saved, {_MAX_SAVED} others are")
        name = f"{self._bot.stem}-{where}.json"
        path = self._directory / name
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"bot": str(self._bot), **fault}, indent=1) + "\n")
        except OSError as error:
            return Kept(None, f"{path} can't be written: {error.strerror}")
        self._left -= 1
        return Kept(path, f"the observation is in {path}")
