"""Ratings: the one door through which they change, and the fold that checks them."""

from league.standings.closing import close_round, rounds_to_close
from league.standings.performance import fit_round, take_fits
from league.standings.recomputing import Difference, recompute

__all__ = [
    "Difference",
    "close_round",
    "fit_round",
    "recompute",
    "rounds_to_close",
    "take_fits",
]
