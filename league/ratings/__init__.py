"""Ratings: the one door through which they change, and the fold that checks them."""

from league.ratings.alarms import alarms, check_ladder
from league.ratings.applying import close_round, rounds_to_close
from league.ratings.corrections import (
    correct,
    count_head_to_head,
    ladders_to_correct,
    ladders_to_count,
    void_block,
)
from league.ratings.fold import DamagedError
from league.ratings.hiding import hide_idle, ladders_to_hide_on
from league.ratings.performance import fit_round, take_fits
from league.ratings.recomputing import Difference, OvertakenError, recompute

__all__ = [
    "DamagedError",
    "Difference",
    "OvertakenError",
    "alarms",
    "check_ladder",
    "close_round",
    "correct",
    "count_head_to_head",
    "fit_round",
    "hide_idle",
    "ladders_to_correct",
    "ladders_to_count",
    "ladders_to_hide_on",
    "recompute",
    "rounds_to_close",
    "take_fits",
    "void_block",
]
