"""The finished days of ``twelve-days``, kept so that copies of a state share them."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Day(NamedTuple):
    """A finished day; gives and draws that a sampled state can't hold are None."""

    day: int
    pot: tuple[int, ...]
    plays: tuple[int, ...]
    winner: int | None
    to: int | None
    gives: tuple[int | None, ...]
    draws: tuple[int | None, ...]

    def seen_by_all(self) -> dict[str, Any]:
        """Return the public part of the day, as in ``history`` of an observation."""
        return {
            "day": self.day,
            "pot": list(self.pot),
            "plays": list(self.plays),
            "winner": self.winner,
            "to": self.to,
        }

    def seen_by(self, seat: int) -> dict[str, Any]:
        """Return the day as in ``history`` of a seat's observation."""
        return {
            **self.seen_by_all(),
            "given": self.gives[seat],
            "received": self.gives[seat - 1],
            "drawn": self.draws[seat],
        }


_Ranks = tuple[int, ...]
_Known = tuple[int | None, ...]
Past = tuple["Past", int, int, _Ranks, int | None, int | None, _Known, _Known] | None
"""Finished days, the last outermost.

The earlier days, then the parts of a `Day`, with its first day card in place of its pot: a plain
tuple, which costs a playout a seventh of a `Day`.
"""


def days_of(past: Past) -> list[Day]:
    """Return finished days, first to last."""
    days = []
    while past:
        past, day, first, plays, winner, to, gives, draws = past
        days.append(Day(day, tuple(range(first, day + 1)), plays, winner, to, gives, draws))
    return days[::-1]


def past_of(observation: Mapping[str, Any]) -> Past:
    """Return the finished days of an observation; gives and draws that it lacks are None."""
    seat, seats = observation["seat"], observation["seats"]

    def known(own: int | None, from_right: int | None = None) -> _Known:
        ranks: list[int | None] = [None] * seats
        ranks[seat - 1], ranks[seat] = from_right, own
        return tuple(ranks)

    past: Past = None
    for day in observation["history"]:
        past = (
            past,
            day["day"],
            day["pot"][0],
            tuple(day["plays"]),
            day["winner"],
            day["to"],
            known(day["given"], day["received"]),
            known(day["drawn"]),
        )
    return past
