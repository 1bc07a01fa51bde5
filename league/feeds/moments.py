"""Moments of a match: who was ahead after each step of its replay.

A step is a day of 12 Days, a trick of 12 Days of Christmas, or the end, as the pages number them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from engine.games.events import DayStarted, RankScored, TrickWon
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.playback import play_back
from engine.record import Record


class Moment(NamedTuple):
    """The points after a phase of a match.

    Attributes:
        ply: number of moves made.
        step: number of the replay's step that shows the phase, from 1.
        points: of each seat so far, without those that only the end gives.
    """

    ply: int
    step: int
    points: tuple[int, ...]


def moments(record: Record) -> Iterator[Moment]:
    """Yield the deal, each phase and, in 12 Days, the end, which counts the hands."""
    done = 0
    for ply, events, state in play_back(record):
        if isinstance(state, TwelveDays):
            step = max(1, done)
            counted = [0] * record.seats
            for event in events:
                if isinstance(event, RankScored):
                    for seat in event.seats:
                        counted[seat] += event.points
            points = (own - end for own, end in zip(state.points, counted, strict=True))
            yield Moment(ply, step, tuple(points))
            if state.is_over:
                yield Moment(ply, step + 1, tuple(state.points))
        else:
            assert isinstance(state, Partridge), "there are two games"
            yield Moment(ply, done + 1, tuple(state.gifts))
        done += sum(isinstance(event, DayStarted | TrickWon) for event in events)


def comeback(record: Record, winner: int) -> int:
    """Return the most points that a seat was behind.

    Args:
        record: of the match.
        winner: the seat.
    """
    return max(max(points) - points[winner] for _, _, points in moments(record))


def deciding_step(record: Record, winner: int) -> int:
    """Return the step in which a seat took the lead that it kept; the last one if it never did.

    Args:
        record: of the match.
        winner: the seat.
    """
    at, was_ahead = 1, False
    for _, step, points in moments(record):
        is_ahead = points.count(max(points)) == 1 and points[winner] == max(points)
        if not (is_ahead and was_ahead):
            at = step
        was_ahead = is_ahead
    return at


def last_step(record: Record) -> int:
    """Return the last step of the replay, the end: it shows the final points and the winner."""
    last = max(moment.step for moment in moments(record))
    return last if record.game == TwelveDays.game else last + 1  # the end follows the last trick


def step_of_move(record: Record, ply: int) -> int:
    """Return the step of the replay in which a move was made.

    Args:
        record: of the match.
        ply: position of the move in the record, from 0.
    """
    return next(moment.step for moment in moments(record) if moment.ply > ply)
