"""Ratings: the one door through which they change, and the fold that checks them."""

from league.standings.closing import close_round, rounds_to_close
from league.standings.recomputing import Difference, recompute

__all__ = ["Difference", "close_round", "recompute", "rounds_to_close"]
