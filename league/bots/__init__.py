"""Bots: created, uploaded, checked, and run in the sandbox (docs/sandbox.md)."""

from league.bots.checks import check_qualified, qualify, versions_to_qualify
from league.bots.hosted_players import HostedBot
from league.bots.registering import ONLINE_FOR, change_bot, create_bot, is_online
from league.bots.uploads import promote, upload

__all__ = [
    "ONLINE_FOR",
    "HostedBot",
    "change_bot",
    "check_qualified",
    "create_bot",
    "is_online",
    "promote",
    "qualify",
    "upload",
    "versions_to_qualify",
]
