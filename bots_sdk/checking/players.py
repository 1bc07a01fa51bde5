"""Bots as players of a check: as the league calls them, normally and after failures."""

import time
from collections.abc import Callable
from random import Random
from types import TracebackType
from typing import Protocol, Self

from engine.errors import MatchInterruptedError
from engine.games.game import Observation


class RunningBot(Protocol):
    """A bot in its process, such as `bots_sdk.sandbox.session.BotProcess`."""

    @property
    def printed(self) -> str:
        """The output so far."""

    def ready(self) -> None:
        """Wait until the bot is loaded."""

    def memory(self) -> int | None:
        """Return the largest address space so far, in bytes; None if it is unknown."""

    def close(self) -> None:
        """End the process."""

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move."""


class CheckedBot:
    """A bot in a match, called once for each of its moves.

    Attributes:
        seconds: the time of each move; of a WebAssembly bot, the time that its fuel stands for.
        reasons: the reasons of its faults except illegal moves, in order.
        memory: the largest address space in bytes; None if it is unknown.
        printed: the output of all its processes.
    """

    def __init__(self, start: Callable[[], RunningBot]) -> None:
        """Start the bot.

        Args:
            start: starts the bot's process.
        """
        self._start = start
        self._bot = start()
        self.seconds: list[float] = []
        self.reasons: list[str] = []
        self.memory: int | None = None
        self.printed = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move, and note its time."""
        began = time.perf_counter()
        try:
            return self.choose(observation)
        except MatchInterruptedError:
            raise
        except Exception as error:
            self.reasons.append(str(error))
            raise
        finally:
            took = time.perf_counter() - began
            fuel = getattr(getattr(self._bot, "move_time", None), "fuel_seconds", None)
            self.seconds.append(took if fuel is None else fuel)

    def ready(self) -> None:
        """Wait until the bot is loaded."""
        self._bot.ready()

    def choose(self, observation: Observation) -> str:
        """Return the bot's move."""
        return self._bot(observation)

    def end(self) -> None:
        """End the process, and note its memory and output."""
        memory = self._bot.memory()
        if memory is not None:
            self.memory = max(memory, self.memory or 0)
        self._bot.close()
        self.printed += self._bot.printed


class RestartedBot(CheckedBot):
    """A bot whose process is killed at every fourth move, and then starts again."""

    _EVERY = 4

    def choose(self, observation: Observation) -> str:
        """Return the bot's move, after a restart at every fourth move."""
        if len(self.seconds) % self._EVERY == self._EVERY - 2:
            self.end()
            self._bot = self._start()
        return super().choose(observation)


class RepeatedBot(CheckedBot):
    """A bot that gets each observation twice; its first answer counts.

    Attributes:
        changed: how often the second answer differed.
    """

    def __init__(self, start: Callable[[], RunningBot]) -> None:
        super().__init__(start)
        self.changed = 0

    def choose(self, observation: Observation) -> str:
        """Return the first answer; if the second is illegal, return that."""
        first = super().choose(observation)
        second = super().choose(observation)
        self.changed += first != second
        return second if second not in observation["legal_moves"] else first


class SkippedBot(CheckedBot):
    """A bot for which the referee plays every third move."""

    _EVERY = 3

    def __init__(self, start: Callable[[], RunningBot]) -> None:
        super().__init__(start)
        self._rng = Random(0)
        self._turns = 0

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move, or a random move of which the bot gets no notice."""
        self._turns += 1
        if self._turns % self._EVERY == 1:
            move: str = self._rng.choice(observation["legal_moves"])
            return move
        return super().__call__(observation)
