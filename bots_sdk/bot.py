"""What a bot from a file is: a player for each match, which gets a `MatchInfo` at its start.

`bots_sdk.bot_files` loads such bots.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from engine.games.game import Observation
from engine.referee import TimeControl

Choose = Callable[[Observation], str]
"""A player in one match: it takes an observation and returns one of its ``legal_moves``."""


class MatchInfo(TypedDict):
    """The argument of a bot's ``start``, which is called before the first move of a match."""

    game: str
    rules: str
    seats: int
    seat: int
    move_seconds: float
    bank_seconds: float


def match_info(game: str, rules: str, seats: int, seat: int, clock: TimeControl) -> MatchInfo:
    """Return the argument of a bot's ``start`` for a seat of a match.

    Args:
        game: the slug of the game.
        rules: the name of the preset.
        seats: the number of seats.
        seat: the bot's seat.
        clock: the time control of the match.
    """
    return {
        "game": game,
        "rules": rules,
        "seats": seats,
        "seat": seat,
        "move_seconds": clock.move_seconds,
        "bank_seconds": clock.bank_seconds,
    }


class BotFile(ABC):
    """A bot from a file; call it with a `MatchInfo` to get a player for one match.

    Attributes:
        path: the path of the file.
        wants_info: whether the bot has a ``start``.
    """

    path: Path
    wants_info: bool

    @abstractmethod
    def __call__(self, info: MatchInfo) -> Choose:
        """Return a player for one match.

        Raises:
            Exception: the file's code raised it.
        """

    @abstractmethod
    def afresh(self, info: MatchInfo) -> Choose:
        """Return a player for one match that shares nothing with other matches."""
