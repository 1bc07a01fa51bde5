"""Bots: created, uploaded, checked, and run in the sandbox (docs/sandbox.md)."""

from league.bots.check_times import check_seconds_left
from league.bots.checks import check_version, versions_to_check
from league.bots.daily_limits import DAILY_LIMITS
from league.bots.games_played import qualified_games, require_qualified
from league.bots.hosted_players import HostedBot
from league.bots.playable import Obstacle, is_online, obstacles, require_playable
from league.bots.players import create_player, remove_players
from league.bots.promoting import promote, require_games_entered, why_not_ready
from league.bots.registering import (
    change_bot,
    create_bot,
    find_by_name,
    find_renamed,
    names_like,
    renew_token,
    why_unknown,
)
from league.bots.retiring import (
    erase_sources,
    has_played,
    lock_active,
    remove,
    require_active,
    retire,
)
from league.bots.settings_checks import bot_problems
from league.bots.uploads import change_note, upload, withdraw_version

__all__ = [
    "DAILY_LIMITS",
    "HostedBot",
    "Obstacle",
    "bot_problems",
    "change_bot",
    "change_note",
    "check_seconds_left",
    "check_version",
    "create_bot",
    "create_player",
    "erase_sources",
    "find_by_name",
    "find_renamed",
    "has_played",
    "is_online",
    "lock_active",
    "names_like",
    "obstacles",
    "promote",
    "qualified_games",
    "remove",
    "remove_players",
    "renew_token",
    "require_active",
    "require_games_entered",
    "require_playable",
    "require_qualified",
    "retire",
    "upload",
    "versions_to_check",
    "why_not_ready",
    "why_unknown",
    "withdraw_version",
]
