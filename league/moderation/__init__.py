"""Moderation: the decisions of organisers, each with its reason, its preview and its way back.

Every decision is written to the moderation log in the transaction that carries it out
(docs/moderation.md).
"""

from league.moderation.blocks import LaterStages, play_again, restore_block, void_block
from league.moderation.matches import (
    cancel_match,
    preview_cancellation_of_match,
    preview_requeue,
    preview_return_of_match,
    requeue_match,
    restore_match,
    state_of_match,
)
from league.moderation.previews import (
    PlaceChange,
    Preview,
    RatingChange,
    preview_cancellation,
    preview_disqualification,
    preview_replay,
    preview_restore,
    preview_void,
    preview_withdrawal,
)
from league.moderation.quarantines import (
    ANY,
    bots_to_stop,
    lift_account_quarantine,
    lift_bot_quarantine,
    quarantine_account,
    quarantine_bot,
    stop_new_matches,
)
from league.moderation.seen import state_of_block, state_of_entry, state_of_tournament
from league.moderation.tournaments import (
    announce,
    cancel,
    change,
    disqualify,
    enter,
    reinstate,
    restore,
    withdraw,
)

__all__ = [
    "ANY",
    "LaterStages",
    "PlaceChange",
    "Preview",
    "RatingChange",
    "announce",
    "bots_to_stop",
    "cancel",
    "cancel_match",
    "change",
    "disqualify",
    "enter",
    "lift_account_quarantine",
    "lift_bot_quarantine",
    "play_again",
    "preview_cancellation",
    "preview_cancellation_of_match",
    "preview_disqualification",
    "preview_replay",
    "preview_requeue",
    "preview_restore",
    "preview_return_of_match",
    "preview_void",
    "preview_withdrawal",
    "quarantine_account",
    "quarantine_bot",
    "reinstate",
    "requeue_match",
    "restore",
    "restore_block",
    "restore_match",
    "state_of_block",
    "state_of_entry",
    "state_of_match",
    "state_of_tournament",
    "stop_new_matches",
    "void_block",
    "withdraw",
]
