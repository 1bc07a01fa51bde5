"""Ratings: the one package that changes them, and the fold that checks them."""

from league.ratings.alarms import alarms, check_ladder, take_checks, take_overdue_checks
from league.ratings.applying import apply_round, rounds_to_apply
from league.ratings.corrections import correct, ladders_to_correct
from league.ratings.fold import DamagedError
from league.ratings.hiding import hide_idle, ladders_to_hide_on, note_resumed
from league.ratings.luck_counts import count_luck, take_luck_counts
from league.ratings.performance import fit_round, take_fits
from league.ratings.ranked_from import copy_ranked_from, ladders_with_other_ranked_from
from league.ratings.recomputing import Difference, OvertakenError, recompute
from league.ratings.void_marks import mark_void

__all__ = [
    "DamagedError",
    "Difference",
    "OvertakenError",
    "alarms",
    "apply_round",
    "check_ladder",
    "copy_ranked_from",
    "correct",
    "count_luck",
    "fit_round",
    "hide_idle",
    "ladders_to_correct",
    "ladders_to_hide_on",
    "ladders_with_other_ranked_from",
    "mark_void",
    "note_resumed",
    "recompute",
    "rounds_to_apply",
    "take_checks",
    "take_fits",
    "take_luck_counts",
    "take_overdue_checks",
]
