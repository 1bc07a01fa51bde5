"""Clocks of hosted and house bots: only the time counts in which a bot could run.

The sandbox measures the time of a hosted bot (`bots_sdk.sandbox`). A house bot runs in the worker's
own thread, so the processor time of the thread counts. If the machine is busy or stands still,
neither loses time.
"""

import time
from collections.abc import Mapping

from engine.games.game import Observation
from engine.referee import MatchClock, Player, TimeControl
from league.bots.hosted_players import HostedBot, TimedMatch


class HostedClock(MatchClock):
    """The clock of a match whose bots run on a worker.

    Attributes:
        players: by seat. A seat without a player is charged the time of the wall clock.
    """

    def __init__(self, match: TimedMatch) -> None:
        control = TimeControl(match.move_seconds, match.bank_seconds)
        super().__init__(control, match.seats, time.monotonic)
        self.players: Mapping[int, Player] = {}

    def charge(self, seat: int, seconds: float) -> bool:
        """Take the time of a move off a seat's bank; return whether the move was in time.

        Args:
            seat: the seat that moved.
            seconds: the time that passed on the wall clock.
        """
        counted = counted_seconds(self.players.get(seat))
        return super().charge(seat, seconds if counted is None else counted)


class HouseBot:
    """A house bot that measures its own time, as a player.

    Attributes:
        counted_seconds: of its last move; None before the first.
    """

    def __init__(self, player: Player) -> None:
        self._player = player
        self.counted_seconds: float | None = None

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move."""
        began = time.thread_time()
        try:
            return self._player(observation)
        finally:
            self.counted_seconds = time.thread_time() - began


def counted_seconds(player: Player | None) -> float | None:
    """Return the time of a player's last move that counts; None if it was not measured."""
    if isinstance(player, HouseBot):
        return player.counted_seconds
    if isinstance(player, HostedBot):
        measured = getattr(player, "move_time", None)
        return None if measured is None else float(measured.charged_seconds)
    return None
