"""The results of playouts: exact sums first, then means and standard errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

FIRST_PLACE = 840
"""One first place: a multiple of 1 to 8, so that any number of tied seats shares it exactly."""


class Played(NamedTuple):
    """Totals of several playouts.

    Attributes:
        moves: the number of moves made.
        scores: the sum of the scores, by seat.
        half_points: by seat, the sum over the other seats of 2 for a lower score than this seat's
            and 1 for the same.
        firsts: by seat, the sum of its shares of the first place, in parts of `FIRST_PLACE`.
    """

    moves: int
    scores: tuple[int, ...]
    half_points: tuple[int, ...]
    firsts: tuple[int, ...]


class Sums(NamedTuple):
    """Sums over the playouts of one move.

    Attributes:
        half: half points of the seat.
        half_squares: their squares.
        score: scores of the seat.
        lead: the number of seats times the score, minus the scores of all seats.
        lead_squares: the squares of these.
    """

    half: int
    half_squares: int
    score: int
    lead: int
    lead_squares: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What playouts say about one legal move.

    Attributes:
        move: the text of the move.
        playouts: the number of playouts after it.
        pair_result: mean result against another seat: 1 for a higher score, 0.5 for the same.
        pair_error: standard error of `pair_result`; None for a single playout.
        points: mean score of the seat: points, or gifts.
        lead: mean of the seat's score minus the mean score of the other seats.
        lead_error: standard error of `lead`; None for a single playout.
    """

    move: str
    playouts: int
    pair_result: float
    pair_error: float | None
    points: float
    lead: float
    lead_error: float | None


def evaluation(move: str, playouts: int, seats: int, sums: Sequence[int]) -> Evaluation:
    """Return the means and standard errors of `Sums`.

    All playouts of a move are independent; two moves share their cards and luck, so the error of a
    difference between moves is smaller than these errors suggest.
    """
    half, half_squares, score, lead, lead_squares = sums
    pairs, others = 2 * (seats - 1), seats - 1
    return Evaluation(
        move,
        playouts,
        half / playouts / pairs,
        _error(playouts, half, half_squares, pairs),
        score / playouts,
        lead / playouts / others,
        _error(playouts, lead, lead_squares, others),
    )


def half_points(scores: Sequence[int], seat: int) -> int:
    """Return 2 for each seat with a lower score, and 1 for each other seat with the same."""
    own = scores[seat]
    return sum([(own > score) + (own >= score) for score in scores]) - 1


def first_share(scores: Sequence[int], seat: int) -> int:
    """Return `FIRST_PLACE` shared by all seats with the highest score; 0 for other seats."""
    most = max(scores)
    return FIRST_PLACE // scores.count(most) if scores[seat] == most else 0


def _error(n: int, total: int, squares: int, unit: int) -> float | None:
    """Return the standard error of a mean, from the exact sums of integers."""
    if n < 2:
        return None
    return sqrt((n * squares - total * total) / (n - 1)) / n / unit
