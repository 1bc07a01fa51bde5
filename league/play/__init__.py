"""Running matches: the one door through which a match changes."""

from league.play.finishing import note_results, void_block, void_match
from league.play.hosted import play_match
from league.play.live import Move, expire_overdue, open_live, submit, submit_all, take_due_live
from league.play.match_queue import requeue_all, take_due
from league.play.mixed_tables import play_house_turns
from league.play.opening import open_matches, open_swap_match, open_unrated_match
from league.play.outages import note_tick
from league.play.turns import open_turns
from league.play.verdicts import MoveRefusedError, Verdict

__all__ = [
    "Move",
    "MoveRefusedError",
    "Verdict",
    "expire_overdue",
    "note_results",
    "note_tick",
    "open_live",
    "open_matches",
    "open_swap_match",
    "open_turns",
    "open_unrated_match",
    "play_house_turns",
    "play_match",
    "requeue_all",
    "submit",
    "submit_all",
    "take_due",
    "take_due_live",
    "void_block",
    "void_match",
]
