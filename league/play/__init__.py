"""Matches: the only package that changes them."""

from league.play.archiving import archive_due, archive_round, archive_state, unarchive_round
from league.play.bot_output import remove_old_output
from league.play.finishing import note_results, void_match, void_unfinished_block
from league.play.hosted import play_match
from league.play.live import open_live
from league.play.match_queue import (
    claim_due_hosted,
    claim_due_live,
    played_first,
    requeue_all,
)
from league.play.mixed_tables import play_house_turns
from league.play.moves import (
    Move,
    ReceivedMove,
    SentMove,
    submit,
    submit_all,
    submit_alone,
    submit_group,
    submit_together,
)
from league.play.old_turns import remove_old_turns
from league.play.opening import (
    open_challenge_matches,
    open_matches,
    open_player_match,
    open_swap_match,
    open_unrated_match,
)
from league.play.overdue_turns import expire_overdue
from league.play.player_seats import final_phases, hand_over, has_left, seat_view
from league.play.requeueing import requeue, restore_void
from league.play.turns import hand_out, open_turns, open_turns_of
from league.play.verdicts import Answer, MoveRefusedError, Verdict

__all__ = [
    "Answer",
    "Move",
    "MoveRefusedError",
    "ReceivedMove",
    "SentMove",
    "Verdict",
    "archive_due",
    "archive_round",
    "archive_state",
    "claim_due_hosted",
    "claim_due_live",
    "expire_overdue",
    "final_phases",
    "hand_out",
    "hand_over",
    "has_left",
    "note_results",
    "open_challenge_matches",
    "open_live",
    "open_matches",
    "open_player_match",
    "open_swap_match",
    "open_turns",
    "open_turns_of",
    "open_unrated_match",
    "play_house_turns",
    "play_match",
    "played_first",
    "remove_old_output",
    "remove_old_turns",
    "requeue",
    "requeue_all",
    "restore_void",
    "seat_view",
    "submit",
    "submit_all",
    "submit_alone",
    "submit_group",
    "submit_together",
    "unarchive_round",
    "void_match",
    "void_unfinished_block",
]
