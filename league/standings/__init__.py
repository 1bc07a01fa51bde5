"""Ratings: the one door through which they change, and the fold that checks them."""

from league.standings.alarms import alarms, check_ladder
from league.standings.closing import close_round, rounds_to_close
from league.standings.correcting import (
    correct,
    count_head_to_head,
    ladders_to_correct,
    ladders_to_count,
    void_block,
)
from league.standings.folding import DamagedError
from league.standings.hiding import hide_idle, ladders_to_hide_on
from league.standings.performance import fit_round, take_fits
from league.standings.recomputing import Difference, OvertakenError, recompute

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
