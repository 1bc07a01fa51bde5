"""Where a bot is checked: in the server's sandbox, or without one where the author says so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bots_sdk.checking.players import Bot
from bots_sdk.checking.unconfined import UnconfinedProcess
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.sources import Source


@dataclass(frozen=True, slots=True)
class Place:
    """A place to run bots in.

    Attributes:
        tier: of the sandbox; 0 without one.
        start: starts a bot from its source, what its ``start`` is told, and how many seconds it
            has for a move now.
        memory_bytes: that a bot may have; None where nothing keeps it from having more.
        cpu_seconds: of the processor, that it may have in a match; None likewise.
        start_seconds: until it must be ready.
        log_bytes: of what it prints that are kept.
    """

    tier: int
    start: Callable[[Source, dict[str, Any], Callable[[], float]], Bot]
    memory_bytes: int | None = None
    cpu_seconds: int | None = None
    start_seconds: float = 5.0
    log_bytes: int = 64 << 10


def sandbox(tier: int = 0) -> Place:
    """Return the server's sandbox, proven to hold.

    Args:
        tier: that is wanted; 0 for the strongest that there is.

    Raises:
        SandboxUnavailableError: none can be set up here, or not that tier.
    """
    try:
        from bots_sdk.sandbox.canary import prove, proven_jail
        from bots_sdk.sandbox.jail import Limits, jails
        from bots_sdk.sandbox.session import BotProcess
    except ImportError as error:  # no `resource` module, for one
        raise SandboxUnavailableError(f"the sandbox needs Linux: {error}") from None
    if tier:
        jail = next((each for each in jails() if each.tier == tier), None)
        if jail is None:
            raise SandboxUnavailableError(f"tier {tier} can't be set up: there is no bubblewrap")
        prove(jail)
    else:
        jail = proven_jail()
    limits = Limits()

    def start(source: Source, info: dict[str, Any], allowance: Callable[[], float]) -> Bot:
        return BotProcess(jail, source, info, allowance=allowance, limits=limits)

    return Place(
        tier=jail.tier,
        start=start,
        memory_bytes=limits.memory_bytes,
        cpu_seconds=limits.cpu_seconds,
        start_seconds=limits.start_seconds,
        log_bytes=limits.log_bytes,
    )


def unconfined() -> Place:
    """Return a place without a sandbox: bots have all rights of whoever runs them."""

    def start(source: Source, info: dict[str, Any], allowance: Callable[[], float]) -> Bot:
        return UnconfinedProcess(source, info, allowance=allowance)

    return Place(0, start)
