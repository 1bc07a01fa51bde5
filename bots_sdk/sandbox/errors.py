"""What can go wrong in the sandbox, and whose fault it is."""

from engine.errors import MatchInterruptedError, PlayerFaultError


class SandboxUnavailableError(Exception):
    """No jail can be set up here, or the canary got out of it; hosted bots are not to be run."""


class SandboxBrokenError(MatchInterruptedError):
    """A jail that worked before could not be set up or was taken away: no bot's fault."""


class SourceRefusedError(ValueError):
    """An upload is no bot: too large, no archive that is safe to unpack, or without a bot.py."""


class BotTimeoutError(PlayerFaultError, TimeoutError):
    """A bot did not answer in time."""


class BotCrashError(PlayerFaultError):
    """A bot raised, died, or did not keep to the protocol; the message says which in one line."""


class BotMemoryError(BotCrashError):
    """A bot wanted more memory than it may have."""
