"""Moderation: the decisions of organisers, each with its reason, its preview and its way back.

Every decision is written to the moderation log in the transaction that carries it out
(docs/moderation.md).
"""

from league.moderation.blocks import LaterStages, play_again, restore_block, void_block
from league.moderation.previews import (
    Preview,
    preview_cancellation,
    preview_disqualification,
    preview_replay,
    preview_restore,
    preview_void,
)
from league.moderation.quarantines import (
    ANY,
    lift_account_quarantine,
    lift_bot_quarantine,
    quarantine_account,
    quarantine_bot,
)
from league.moderation.tournaments import (
    announce,
    cancel,
    change,
    disqualify,
    reinstate,
    restore,
)

__all__ = [
    "ANY",
    "LaterStages",
    "Preview",
    "announce",
    "cancel",
    "change",
    "disqualify",
    "lift_account_quarantine",
    "lift_bot_quarantine",
    "play_again",
    "preview_cancellation",
    "preview_disqualification",
    "preview_replay",
    "preview_restore",
    "preview_void",
    "quarantine_account",
    "quarantine_bot",
    "reinstate",
    "restore",
    "restore_block",
    "void_block",
]
