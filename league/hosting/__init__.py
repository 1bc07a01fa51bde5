"""Uploaded bots: stored, tried before they may play, and run in the sandbox (docs/sandbox.md)."""

from league.hosting.players import HostedBot
from league.hosting.qualifying import check_qualified, qualify, versions_to_qualify
from league.hosting.uploads import promote, upload

__all__ = ["HostedBot", "check_qualified", "promote", "qualify", "upload", "versions_to_qualify"]
