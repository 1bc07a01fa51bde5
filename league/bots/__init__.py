"""Bots: created, uploaded, checked, and run in the sandbox (docs/sandbox.md)."""

from league.bots.checks import check_version, require_qualified, versions_to_check
from league.bots.hosted_players import HostedBot
from league.bots.registering import ONLINE_FOR, change_bot, create_bot, is_online
from league.bots.uploads import promote, upload

__all__ = [
    "ONLINE_FOR",
    "HostedBot",
    "change_bot",
    "check_version",
    "create_bot",
    "is_online",
    "promote",
    "require_qualified",
    "upload",
    "versions_to_check",
]
