"""Ways to ask a bot: as the league does, and as it does when something has gone wrong there."""

import time
from collections.abc import Callable
from random import Random
from types import TracebackType
from typing import Any, Protocol, Self

from engine.errors import MatchInterruptedError
from engine.games.game import Observation


class Bot(Protocol):
    """A bot in a process of its own; `bots_sdk.sandbox.session.BotProcess` is one."""

    @property
    def printed(self) -> str:
        """What it has printed so far."""

    def ready(self) -> None:
        """Wait until it is loaded."""

    def memory(self) -> int | None:
        """Return the bytes of address space that it needed at most; None where nobody knows."""

    def close(self) -> None:
        """End its process."""

    def __call__(self, observation: Observation) -> str:
        """Return its move."""


Start = Callable[[dict[str, Any], Callable[[], float]], Bot]
"""Starts a bot, from what its ``start`` is told and how many seconds it has for a move now."""


class Plain:
    """A bot in a match, asked once for each of its moves.

    Attributes:
        seconds: that its moves took.
        reasons: why it had faults but for illegal moves, in order.
        memory: the most it needed; None where nobody knows.
        printed: what it printed, in all its processes.
    """

    def __init__(self, start: Callable[[], Bot]) -> None:
        """Start it.

        Args:
            start: starts its process.
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
        """Return its move, and take its time."""
        began = time.perf_counter()
        try:
            return self.ask(observation)
        except MatchInterruptedError:
            raise
        except Exception as error:
            self.reasons.append(str(error))
            raise
        finally:
            self.seconds.append(time.perf_counter() - began)

    def ready(self) -> None:
        """Wait until it is loaded."""
        self._bot.ready()

    def ask(self, observation: Observation) -> str:
        """Return its move."""
        return self._bot(observation)

    def end(self) -> None:
        """End its process, and note what there is to know of it."""
        memory = self._bot.memory()
        if memory is not None:
            self.memory = max(memory, self.memory or 0)
        self._bot.close()
        self.printed += self._bot.printed


class Restarted(Plain):
    """One whose process is killed now and then, and started anew in the middle of the match."""

    _EVERY = 4

    def ask(self, observation: Observation) -> str:
        """Return its move, perhaps after a new start."""
        if len(self.seconds) % self._EVERY == self._EVERY - 2:
            self.end()
            self._bot = self._start()
        return super().ask(observation)


class AskedTwice(Plain):
    """One that gets each question twice; what counts is its first answer.

    Attributes:
        changed: how often the second answer was another.
    """

    def __init__(self, start: Callable[[], Bot]) -> None:
        super().__init__(start)
        self.changed = 0

    def ask(self, observation: Observation) -> str:
        """Return its first answer, if the second would do as well."""
        first = super().ask(observation)
        second = super().ask(observation)
        self.changed += first != second
        return second if second not in observation["legal_moves"] else first


class PassedOver(Plain):
    """One that now and then isn't asked: the referee moves in its stead."""

    _EVERY = 3

    def __init__(self, start: Callable[[], Bot]) -> None:
        super().__init__(start)
        self._rng = Random(0)
        self._asked = 0

    def __call__(self, observation: Observation) -> str:
        """Return its move, or one that it is not told of."""
        self._asked += 1
        if self._asked % self._EVERY == 1:
            move: str = self._rng.choice(observation["legal_moves"])
            return move
        return super().__call__(observation)
