"""Accounts: people, their tokens, and rate limits."""

from league.accounts.hashing import BusyError
from league.accounts.password_changes import (
    may_reset,
    new_reset,
    reset_password,
    set_password,
    user_of_reset,
)
from league.accounts.passwords import TooManyTriesError
from league.accounts.people import (
    ORGANISERS,
    create_account,
    is_operator,
    is_organiser,
    name_taken,
)
from league.accounts.tokens import (
    BOT_TOKEN,
    OWNER_SCOPES,
    OWNER_TOKEN,
    REMEMBERED_SECONDS,
    bot_for_token,
    find_token,
    find_tokens,
    has_worked,
    new_bot_token,
    new_owner_token,
    owner_for_token,
    remembered_token,
    revoke,
    still_play,
    tokens_of,
)

__all__ = [
    "BOT_TOKEN",
    "ORGANISERS",
    "OWNER_SCOPES",
    "OWNER_TOKEN",
    "REMEMBERED_SECONDS",
    "BusyError",
    "TooManyTriesError",
    "bot_for_token",
    "create_account",
    "find_token",
    "find_tokens",
    "has_worked",
    "is_operator",
    "is_organiser",
    "may_reset",
    "name_taken",
    "new_bot_token",
    "new_owner_token",
    "new_reset",
    "owner_for_token",
    "remembered_token",
    "reset_password",
    "revoke",
    "set_password",
    "still_play",
    "tokens_of",
    "user_of_reset",
]
