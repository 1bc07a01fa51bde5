"""Errors of the sandbox, separate for faults of the bot and failures of the sandbox."""

from engine.errors import MatchInterruptedError, PlayerFaultError


class SandboxUnavailableError(Exception):
    """No jail works here, or the canary escaped; hosted bots must not run."""


class SandboxBrokenError(MatchInterruptedError):
    """A jail that worked before failed; this is not a fault of the bot."""


class BotTimeoutError(PlayerFaultError, TimeoutError):
    """A bot did not answer in time."""


class BotCrashError(PlayerFaultError):
    """A bot raised an exception, died, or broke the protocol; the message is one line."""


class BotMemoryError(BotCrashError):
    """A bot exceeded its memory limit."""
