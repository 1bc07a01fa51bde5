"""Calls of a bot's code for a move: in a thread, with a check of the answer."""

import asyncio
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from engine.errors import no_text, quote
from engine.games import catalogue
from engine.games.game import Observation

Given = TypeVar("Given")
Result = TypeVar("Result")


class BotFaultError(Exception):
    """A bot returned no legal move; the message gives the reason in one line.

    Attributes:
        kind: ``crash``, ``illegal`` or ``timeout``, as the league names faults.
        traceback: the traceback of a crash; empty for other kinds.
    """

    def __init__(self, kind: str, reason: str, traceback: str = "") -> None:
        self.kind = kind
        self.traceback = traceback
        super().__init__(reason)


async def in_thread(function: Callable[[Given], Result], given: Given) -> Result:
    """Return the result of a bot's code, from a thread that does not delay the end of the program.

    Raises:
        BotFaultError: the code raised an exception.
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
    """Return an error's traceback without the frames of the SDK above the bot's."""
    here = Path(__file__).parent
    frames = traceback.TracebackException.from_exception(error)
    while frames.stack and Path(frames.stack[0].filename).parent in (
        here,
        here / "arena",
        here / "checking",
    ):
        del frames.stack[0]
    return "".join(frames.format())


def legal_move(answer: object, observation: Observation) -> str:
    """Return a bot's answer as the text of a legal move.

    Raises:
        BotFaultError: the answer is not a legal move.
    """
    legal: list[str] = observation["legal_moves"]
    if not isinstance(answer, str):
        raise BotFaultError("illegal", no_text(answer))
    if answer not in legal:
        with suppress(ValueError):  # the engine has no such game, or the game has no such move
            moves = catalogue.find(observation["game"]).moves
            answer = moves.texts[moves.parse(answer)]
    if answer not in legal:
        raise BotFaultError("illegal", f"{quote(answer)} is not one of the legal moves")
    return answer
