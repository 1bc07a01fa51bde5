"""The places where a check runs bots: in the league's sandbox, or without a sandbox."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bots_sdk.checking.players import RunningBot
from bots_sdk.checking.unconfined import UnconfinedProcess
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.sources import Source


@dataclass(frozen=True, slots=True)
class Runtime:
    """A place to run bots in.

    Attributes:
        tier: the tier of the sandbox; 0 without one.
        start: starts a bot. Its arguments are the source, the argument of the bot's ``start``, and
            a function that returns the seconds that the bot has for a move now.
        memory_bytes: returns the memory limit of a bot from its source and the number of seats;
            None without a limit.
        cpu_seconds: the limit of CPU time in a match; None without a limit.
        start_seconds: the time limit for loading.
        log_bytes: the limit of the output that is kept.
    """

    tier: int
    start: Callable[[Source, dict[str, Any], Callable[[], float]], RunningBot]
    memory_bytes: Callable[[Source, int], int] | None = None
    cpu_seconds: int | None = None
    start_seconds: float = 5.0
    log_bytes: int = 64 << 10


def sandbox(tier: int = 0) -> Runtime:
    """Return the league's sandbox, after the canary has failed to escape from it.

    Args:
        tier: the tier; 0 for the strongest that works here.

    Raises:
        SandboxUnavailableError: no sandbox, or not that tier, works here.
    """
    # Imported here, because systems other than Linux lack modules of the sandbox.
    try:
        from bots_sdk.sandbox.canary import proven_jail
        from bots_sdk.sandbox.limits import Limits
        from bots_sdk.sandbox.session import BotProcess, limits_of
    except ImportError as error:  # no `resource` module, for one
        raise SandboxUnavailableError(f"the sandbox needs Linux: {error}") from None
    jail = proven_jail(tier)
    limits = Limits()

    def start(source: Source, info: dict[str, Any], allowance: Callable[[], float]) -> RunningBot:
        at_table = limits.at_table(info["seats"])
        return BotProcess(jail, source, info, allowance=allowance, limits=at_table)

    def memory_bytes(source: Source, seats: int) -> int:
        at_table = limits.at_table(seats)
        return limits_of(source, at_table).most_bytes

    return Runtime(
        tier=jail.tier,
        start=start,
        memory_bytes=memory_bytes,
        cpu_seconds=limits.cpu_seconds,
        start_seconds=limits.start_seconds,
        log_bytes=limits.log_bytes,
    )


def unconfined() -> Runtime:
    """Return a place without a sandbox, in which bots have all your rights."""

    def start(source: Source, info: dict[str, Any], allowance: Callable[[], float]) -> RunningBot:
        return UnconfinedProcess(source, info, allowance=allowance)

    return Runtime(0, start)
